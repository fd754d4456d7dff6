//! Who may see the admin side, and what its answers tell a browser.

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::api::problem;
use crate::config::Access;

/// Only what this process serves is loaded and asked, and no page of others may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Lets a request through if it may see what it asks for.
pub async fn check(State(access): State<Access>, request: Request, next: Next) -> Response {
    match refused(&access, request.headers()) {
        Some(response) => response,
        None => next.run(request).await,
    }
}

fn refused(access: &Access, headers: &HeaderMap) -> Option<Response> {
    match access {
        Access::Open => None,
        Access::Local if is_local(headers) => None,
        Access::Local => Some(problem(
            StatusCode::MISDIRECTED_REQUEST,
            "this address answers to localhost and to IP addresses only: under another name any web page could ask it",
        )),
        Access::Token(token) if has_token(headers, token.secret()) => None,
        Access::Token(_) => {
            let wanted = [(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
            let why = problem(
                StatusCode::UNAUTHORIZED,
                "the token of --admin-token is needed: Authorization: Bearer TOKEN",
            );
            Some((wanted, why).into_response())
        }
    }
}

/// A page of another site can make its own name mean 127.0.0.1 (DNS rebinding) and then ask this server with the
/// visitor's browser. It cannot do so without a name.
fn is_local(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || address.parse::<std::net::IpAddr>().is_ok()
}

/// RFC 6750 §2.1. How long the comparison takes tells nothing of the token but its length.
fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let given = given.and_then(|given| given.split_at_checked("Bearer ".len()));
    given.is_some_and(|(scheme, given)| {
        scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(given.ct_eq(token.as_bytes()))
    })
}

/// Puts onto every answer what keeps pages of others out.
pub async fn seal(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let only_here = HeaderName::from_static("cross-origin-resource-policy");
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (only_here, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(access: &Access, name: HeaderName, value: &str) -> Option<u16> {
        let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
        refused(access, &headers).map(|response| response.status().as_u16())
    }

    #[test]
    fn without_a_token_only_names_of_this_machine_are_answered() {
        for host in [
            "127.0.0.1:8090",
            "[::1]:8090",
            "localhost:8090",
            "LOCALHOST",
            "127.0.0.1",
            "[::1]",
        ] {
            assert_eq!(status(&Access::Local, HOST, host), None, "{host}");
        }
        for host in [
            "evil.example:8090",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            ":8090",
        ] {
            assert_eq!(status(&Access::Local, HOST, host), Some(421), "{host}");
        }
        assert!(refused(&Access::Local, &HeaderMap::new()).is_some());
        assert_eq!(status(&Access::Open, HOST, "dripline.internal"), None);
    }

    #[test]
    fn a_token_is_asked_for_and_compared_whole() {
        let access = Access::Token("0123456789abcdef".parse().unwrap());
        for good in ["Bearer 0123456789abcdef", "bearer 0123456789abcdef"] {
            assert_eq!(status(&access, AUTHORIZATION, good), None);
        }
        for bad in [
            "Bearer 0123456789abcdeg",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Basic 0123456789abcdef",
            "Bearer ",
            "0123456789abcdef",
            "",
        ] {
            assert_eq!(status(&access, AUTHORIZATION, bad), Some(401), "{bad}");
        }
        assert!(refused(&access, &HeaderMap::new()).is_some());
    }
}
