//! The two texts that Prometheus reads, and which of them a scrape asked for.

/// A text of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' own, version 0.0.4: what everything reads.
    Text,
    /// OpenMetrics 1.0: with exemplars.
    OpenMetrics,
}

impl Format {
    /// What the `Accept` header of a scrape asks for. Without one, and for what is none of both, [`Format::Text`].
    pub fn of_accept(accept: Option<&str>) -> Format {
        let ranges: Vec<Range> = accept
            .into_iter()
            .flat_map(|all| all.split(',').map(Range::of))
            .collect();
        let open = wish(&ranges, |range| range.is_open_metrics()).unwrap_or(0);
        // A range that names the text says more of it than one that stands for everything.
        let text = wish(&ranges, |range| range.is_text())
            .or_else(|| wish(&ranges, |range| range.is_anything()))
            .unwrap_or(0);
        match open > 0 && open >= text {
            true => Format::OpenMetrics,
            false => Format::Text,
        }
    }

    /// The `Content-Type` of the text.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// How much the most wanted of these `ranges` is wanted; `None` if there is none.
fn wish(ranges: &[Range<'_>], is_one: impl Fn(&Range<'_>) -> bool) -> Option<u32> {
    let these = ranges.iter().filter(|range| is_one(range));
    these.map(|range| range.quality).max()
}

/// One range of media types of an `Accept` header (RFC 9110, section 12.5.1).
struct Range<'a> {
    media: &'a str,
    version: Option<&'a str>,
    /// In thousandths.
    quality: u32,
}

impl<'a> Range<'a> {
    fn of(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let mut range = Range {
            media: parts.next().unwrap_or_default(),
            version: None,
            quality: 1_000,
        };
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            let value = value.trim().trim_matches('"');
            match key.trim().to_ascii_lowercase().as_str() {
                "version" => range.version = Some(value),
                // One that cannot be read asks for nothing.
                "q" => range.quality = value.parse().map_or(0, |q: f32| (q * 1e3) as u32),
                _ => {}
            }
        }
        range
    }

    fn is_open_metrics(&self) -> bool {
        self.is("application/openmetrics-text") && self.is_version("1.0.0")
    }

    fn is_text(&self) -> bool {
        (self.is("text/plain") || self.is("text/*")) && self.is_version("0.0.4")
    }

    fn is_anything(&self) -> bool {
        self.is("*/*")
    }

    fn is(&self, media: &str) -> bool {
        self.media.eq_ignore_ascii_case(media)
    }

    fn is_version(&self, version: &str) -> bool {
        self.version.is_none_or(|asked| asked == version)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Format::{OpenMetrics, Text};
    use super::*;

    #[test]
    fn what_was_asked_for_is_given() {
        for (accept, format) in [
            (None, Text),
            (Some(""), Text),
            (Some("*/*"), Text),
            (Some("text/html,application/xhtml+xml,*/*;q=0.8"), Text),
            (Some("text/plain"), Text),
            (Some("application/openmetrics-text"), OpenMetrics),
            (
                Some("APPLICATION/OpenMetrics-Text; Version=\"1.0.0\""),
                OpenMetrics,
            ),
            // Prometheus 2.42, and 3.x with its parameter of escaping.
            (
                Some(
                    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                     text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                ),
                OpenMetrics,
            ),
            (
                Some(
                    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
                     text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                ),
                OpenMetrics,
            ),
            (
                Some("application/openmetrics-text;q=0.4,text/plain;q=0.5"),
                Text,
            ),
            (Some("application/openmetrics-text;q=0.4, */*"), Text),
            (
                Some("application/openmetrics-text;q=0.4, text/plain;q=0.1, */*"),
                OpenMetrics,
            ),
            // Of these there is none, or none that is wanted.
            (Some("application/openmetrics-text;version=2.0.0"), Text),
            (Some("application/openmetrics-text;q=0"), Text),
            (Some("application/openmetrics-text;q=high"), Text),
            (
                Some("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily"),
                Text,
            ),
        ] {
            assert_eq!(Format::of_accept(accept), format, "{accept:?}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_answered(accept in "[ -~]{0,80}|(application/openmetrics-text|text/plain|[,;=q.0-9 ]){0,20}") {
            let _ = Format::of_accept(Some(&accept));
        }
    }
}
