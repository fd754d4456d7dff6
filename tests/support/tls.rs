//! A certificate for a server, the authority that vouches for it, and a server that has both.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertificateParams, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

/// What a server shows, and what a client is to trust.
pub struct Certified {
    pub config: ServerConfig,
    dir: TempDir,
}

impl Certified {
    /// A certificate for `name`.
    pub fn named(name: &str) -> Certified {
        let authority_key = KeyPair::generate().expect("a key");
        let mut authority = CertificateParams::new(vec![]).expect("an authority");
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority_cert = authority
            .self_signed(&authority_key)
            .expect("a certificate");
        let key = KeyPair::generate().expect("a key");
        let cert = CertificateParams::new(vec![name.to_owned()])
            .and_then(|params| params.signed_by(&key, &Issuer::new(authority, authority_key)))
            .expect("a certificate");
        let dir = TempDir::new().expect("a temporary folder");
        std::fs::write(dir.path().join("ca.pem"), authority_cert.pem()).expect("a file");

        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("key and certificate fit");
        Certified { config, dir }
    }

    /// The authority's certificate, as long as this lives.
    pub fn ca(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }
}

/// A TLS server. It ends with the test process.
pub struct TlsServer {
    addr: SocketAddr,
    certified: Certified,
}

/// A connection to it.
pub type TlsStream = StreamOwned<ServerConnection, TcpStream>;

impl TlsServer {
    /// A server whose certificate is for `name`, and that does with each connection what `serve` does.
    pub fn named(name: &str, serve: impl Fn(TlsStream) + Send + Sync + 'static) -> TlsServer {
        let certified = Certified::named(name);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound");
        let (config, serve) = (Arc::new(certified.config.clone()), Arc::new(serve));
        std::thread::spawn(move || {
            for tcp in listener.incoming().flatten() {
                let connection =
                    ServerConnection::new(config.clone()).expect("a valid configuration");
                let serve = serve.clone();
                std::thread::spawn(move || serve(StreamOwned::new(connection, tcp)));
            }
        });
        TlsServer { addr, certified }
    }

    /// The authority's certificate as a file.
    pub fn ca(&self) -> PathBuf {
        self.certified.ca()
    }

    /// Its URL, by the name that most tests give it.
    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.addr.port())
    }
}
