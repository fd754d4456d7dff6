//! Which API a path belongs to.

use super::events::{Api, Wire};
use super::request::Request;

/// What a path says of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub api: Api,
    /// How the events of a streamed answer are framed.
    pub wire: Wire,
    /// The model, and whether the answer is streamed, where the path says it and not the body.
    pub model: Option<String>,
    pub stream: Option<bool>,
    /// Whether the answer is streamed when nothing says so.
    pub default_stream: bool,
}

impl Route {
    /// The route of a POST. A path that is not known is one of chat completions.
    pub fn of(request: &Request) -> Self {
        Self::known(&request.path, &request.query).unwrap_or_else(|| Self::events(Api::Chat))
    }

    /// The route of a path that belongs to an API.
    pub fn known(path: &str, query: &str) -> Option<Self> {
        let ends = |end: &str| path.ends_with(end);
        if ends("/chat/completions") {
            Some(Self::events(Api::Chat))
        } else if ends("/completions") {
            Some(Self::events(Api::Completions))
        } else if ends("/responses") {
            Some(Self::events(Api::Responses))
        } else if ends("/messages") {
            Some(Self::events(Api::Messages))
        } else if ends("/api/chat") {
            Some(Self::lines(Api::OllamaChat))
        } else if ends("/api/generate") {
            Some(Self::lines(Api::OllamaGenerate))
        } else {
            Self::gemini(path, query)
        }
    }

    fn events(api: Api) -> Self {
        Self {
            api,
            wire: Wire::Events,
            model: None,
            stream: None,
            default_stream: false,
        }
    }

    /// Ollama streams unless it is told not to.
    fn lines(api: Api) -> Self {
        Self {
            wire: Wire::Lines,
            default_stream: true,
            ..Self::events(api)
        }
    }

    /// `…/models/NAME:METHOD`.
    fn gemini(path: &str, query: &str) -> Option<Self> {
        let (_, rest) = path.rsplit_once("/models/")?;
        let (model, method) = rest.rsplit_once(':')?;
        let stream = match method {
            "streamGenerateContent" => true,
            "generateContent" => false,
            _ => return None,
        };
        let events = query.split('&').any(|pair| pair == "alt=sse");
        Some(Self {
            wire: if events { Wire::Events } else { Wire::Array },
            model: Some(model.to_owned()),
            stream: Some(stream),
            ..Self::events(Api::Gemini)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_path_tells_the_api() {
        let api = |path| Route::known(path, "").map(|route| (route.api, route.wire));
        assert_eq!(api("/v1/chat/completions"), Some((Api::Chat, Wire::Events)));
        assert_eq!(
            api("/openai/v1/completions"),
            Some((Api::Completions, Wire::Events))
        );
        assert_eq!(api("/v1/responses"), Some((Api::Responses, Wire::Events)));
        assert_eq!(
            api("/anthropic/v1/messages"),
            Some((Api::Messages, Wire::Events))
        );
        assert_eq!(api("/api/chat"), Some((Api::OllamaChat, Wire::Lines)));
        assert_eq!(
            api("/api/generate"),
            Some((Api::OllamaGenerate, Wire::Lines))
        );
        assert_eq!(api("/v1/audio/speech"), None);
    }

    #[test]
    fn gemini_names_model_and_method_in_its_path() {
        let path = "/v1beta/models/steady:streamGenerateContent";
        let route = Route::known(path, "key=x&alt=sse").unwrap();
        assert_eq!((route.wire, route.stream), (Wire::Events, Some(true)));
        assert_eq!(route.model.as_deref(), Some("steady"));
        assert_eq!(Route::known(path, "").unwrap().wire, Wire::Array);
        let whole = Route::known("/v1/models/m:generateContent", "").unwrap();
        assert_eq!(whole.stream, Some(false));
    }
}
