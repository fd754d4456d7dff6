//! Where the admin side is, and who may see it.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use super::error::ConfigError;
use super::values::ListenAddr;

/// What `dripline proxy` shows of itself, and to whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    /// Address of the page, the API and the metrics.
    pub addr: SocketAddr,
    /// Someone asked for this address: if it is taken, nothing starts. The default one is only missed.
    pub asked: bool,
    /// Who may see it.
    pub access: Access,
    /// Requests that are kept for the page.
    pub recent: usize,
}

/// Who may see the admin side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Whoever is on this machine.
    Local,
    /// Whoever has the token.
    Token(Token),
    /// Whoever reaches the address: `--admin-open`.
    Open,
}

impl Admin {
    /// What the settings say together.
    ///
    /// # Errors
    ///
    /// Anyone on the network could read it, and nobody said that this is wanted.
    pub(super) fn of(
        AdminAddr(addr): AdminAddr,
        asked: bool,
        token: Option<Token>,
        open: bool,
        Recent(recent): Recent,
    ) -> Result<Option<Admin>, ConfigError> {
        let Some(addr) = addr else {
            return Ok(None);
        };
        let access = match token {
            Some(token) => Access::Token(token),
            None if open => Access::Open,
            None if addr.ip().is_loopback() => Access::Local,
            None => return Err(ConfigError::AdminUnguarded(addr)),
        };
        Ok(Some(Admin {
            addr,
            asked,
            access,
            recent,
        }))
    }
}

/// Where the admin side listens, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdminAddr(pub Option<SocketAddr>);

impl FromStr for AdminAddr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(AdminAddr(None)),
            _ => text
                .parse()
                .map(|ListenAddr(addr)| AdminAddr(Some(addr)))
                .map_err(|problem: String| format!("{problem}, or off")),
        }
    }
}

/// The shortest token that nobody guesses.
const SHORTEST: usize = 16;

/// The secret that the admin side asks for. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The secret itself.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl FromStr for Token {
    type Err = String;

    // the text is not repeated: it is a secret also when it is a bad one
    fn from_str(text: &str) -> Result<Self, String> {
        const HOW: &str = "make one with: openssl rand -hex 16";
        if text.len() < SHORTEST {
            return Err(format!(
                "is too short to keep anyone out ({SHORTEST} characters are needed); {HOW}"
            ));
        }
        match text.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(Token(text.to_owned())),
            false => Err(format!("has characters that no header can carry; {HOW}")),
        }
    }
}

/// How many requests the page keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recent(pub usize);

impl FromStr for Recent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MOST: usize = 100_000;
        match text.parse() {
            Ok(n @ 1..=MOST) => Ok(Recent(n)),
            _ => Err(format!(
                "'{text}' is not a number from 1 to {MOST}; write for example 10000 (about 4 kB each)"
            )),
        }
    }
}

/// How many models have metrics of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Models(pub usize);

impl FromStr for Models {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MOST: usize = 10_000;
        match text.parse() {
            Ok(n @ 0..=MOST) => Ok(Models(n)),
            _ => Err(format!(
                "'{text}' is not a number from 0 to {MOST}; write for example 100 (about 300 series each)"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn admin(addr: &str, token: Option<&str>, open: bool) -> Result<Option<Admin>, ConfigError> {
        let token = token.map(|token| token.parse().unwrap());
        Admin::of(addr.parse().unwrap(), true, token, open, Recent(10))
    }

    #[test]
    fn only_loopback_is_open_to_all_who_reach_it() {
        let access = |addr, token, open| admin(addr, token, open).unwrap().unwrap().access;
        assert_eq!(access("127.0.0.1:8090", None, false), Access::Local);
        assert_eq!(access("[::1]:8090", None, false), Access::Local);
        assert_eq!(access("0.0.0.0:8090", None, true), Access::Open);
        let Access::Token(token) = access("0.0.0.0:8090", Some(SECRET), true) else {
            panic!("a token is asked for also where it need not be");
        };
        assert_eq!(token.secret(), SECRET);
        for addr in ["0.0.0.0:8090", "10.0.0.7:8090", "[::]:8090"] {
            let error = admin(addr, None, false).unwrap_err().to_string();
            assert!(
                error.contains("--admin-token") && error.contains("--admin-open"),
                "{error}"
            );
        }
        assert!(admin("off", None, false).unwrap().is_none());
    }

    #[test]
    fn a_token_is_long_and_never_shown() {
        let token: Token = SECRET.parse().unwrap();
        assert!(!format!("{token:?}").contains(SECRET));
        for bad in ["", "sesame", "0123456789abc def", "0123456789abcdefé"] {
            let error = bad.parse::<Token>().unwrap_err();
            assert!(
                error.contains("openssl") && (bad.is_empty() || !error.contains(bad)),
                "{error}"
            );
        }
    }

    #[test]
    fn an_address_or_off() {
        assert_eq!("off".parse(), Ok(AdminAddr(None)));
        let error = "8090".parse::<AdminAddr>().unwrap_err();
        assert!(
            error.contains("127.0.0.1:8090") && error.ends_with(", or off"),
            "{error}"
        );
        assert!("0".parse::<Recent>().is_err() && "-1".parse::<Recent>().is_err());
        assert!("0".parse() == Ok(Models(0)) && "many".parse::<Models>().is_err());
    }
}
