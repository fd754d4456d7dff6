//! The page: plain files that are part of the program, so that it needs no network and no folder.
//!
//! They have nothing in them that is a secret. What the page shows it asks of the API, with a token where one is needed.
//! `live/page/main.js` is where to begin reading.

use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::api;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";
const TEXT: &str = "text/plain; charset=utf-8";

/// A file of the page: name, content type, what is in it.
type File = (&'static str, &'static str, &'static str);

macro_rules! files {
    ($($kind:ident: $($name:literal)+;)+) => {
        [$($(($name, $kind, include_str!(concat!("page/", $name))),)+)+]
    };
}

const INDEX: &str = include_str!("page/index.html");

/// All of them but the page itself.
const FILES: &[File] = &files! {
    CSS: "theme.css" "page.css" "request.css" "vendor/uplot.css";
    JS: "api.js" "columns.js" "counts.js" "detail.js" "dom.js" "drip.js" "filter.js" "flight.js" "format.js"
        "heatmap.js" "keys.js" "lanes.js" "main.js" "marks.js" "open.js" "parts.js" "plot.js" "request.js"
        "running.js" "scatter.js" "scatters.js" "sse.js" "steps.js" "store.js" "stream.js" "strokes.js"
        "suggest.js" "table.js" "theme.js" "tiles.js" "time.js" "token.js" "waterfall.js" "words.js"
        "vendor/uplot.js";
    SVG: "icon.svg";
    TEXT: "vendor/uplot.LICENSE";
};

/// `GET /`
pub async fn index() -> Response {
    ([(CONTENT_TYPE, HTML)], INDEX).into_response()
}

/// `GET /page/{name}`
pub async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some(&(_, kind, text)) => ([(CONTENT_TYPE, kind)], text).into_response(),
        None => api::nothing().await,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .flat_map(|path| match path.is_dir() {
                true => files(&path),
                false => vec![path],
            })
            .collect()
    }

    #[test]
    fn every_file_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/live/page");
        let name = |path: &PathBuf| path.strip_prefix(&folder).unwrap().display().to_string();
        let there: BTreeSet<_> = files(&folder)
            .iter()
            .map(name)
            .filter(|name| !["index.html", "package.json", "vendor/SHA256SUMS"].contains(&&**name))
            .collect();
        let served: BTreeSet<_> = FILES.iter().map(|(name, ..)| (*name).to_owned()).collect();
        assert_eq!(there, served);
    }

    #[test]
    fn nothing_is_inline_and_nothing_is_elsewhere() {
        for way in ["style=", "<style", " onclick", "http:", "https:", "=\"//"] {
            assert!(!INDEX.contains(way), "{way}");
        }
        let own = FILES
            .iter()
            .filter(|(name, ..)| !name.starts_with("vendor/"));
        for (name, _, text) in own {
            for way in [
                "innerHTML",
                "outerHTML",
                "AdjacentHTML",
                "document.write",
                "eval(",
            ] {
                assert!(!text.contains(way), "{name}: {way}");
            }
            // the name of SVG is an address that nothing asks; the other is for an app to ask
            let elsewhere = text
                .replace("http://www.w3.org/2000/svg", "")
                .replace("OPENAI_BASE_URL=http://${", "");
            assert!(!elsewhere.contains("://"), "{name}");
        }
    }
}
