//! The demo's stage: simulated server and proxy, both on free ports of this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::config::{self, Settings};
use crate::live::Server;
use crate::live::scrape::Scrape;
use crate::observe::record::RequestRecord;
use crate::relay::Proxy;
use crate::sink::{Metrics, Sink, Sinks};
use crate::tools::proxy::admin;
use crate::tools::simulate::{Scenario, Simulator};

/// How the proxy is set, beside its upstream. The timeline gives the histogram every single gap.
const SETTINGS: &str = r#"
listen = "127.0.0.1:0"
log = "off"
admin = "127.0.0.1:0"
instance = "demo"
drain = "1s"
timeline = true
"#;

/// Server and proxy, running.
pub(super) struct Stage {
    /// Where the proxy listens.
    pub proxy: SocketAddr,
    /// Where the simulated server listens.
    pub server: SocketAddr,
    /// Where the page is.
    pub page: SocketAddr,
    /// The server's scenarios, which are also its models.
    pub scenarios: Vec<String>,
    /// What the proxy measured.
    pub records: mpsc::UnboundedReceiver<Arc<RequestRecord>>,
    running: [Running; 2],
    _live: Server,
}

/// A task that ends when `stop` is dropped.
struct Running {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Stage {
    /// Starts both.
    pub async fn open() -> anyhow::Result<Self> {
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let simulator = Simulator::bind(free, Scenario::ready())
            .await
            .context("cannot start the simulated server")?;
        let server = simulator.local_addr();
        let scenarios = simulator
            .scenarios()
            .iter()
            .map(|scenario| scenario.name.clone())
            .collect();

        let settings: Settings = toml::from_str(&format!("{SETTINGS}upstream = 'http://{server}'"))
            .context("the demo's settings")?;
        let config = config::load(settings)?;
        let admin = admin::bind(config.admin.as_ref())?.context("the demo has a page")?;
        let (page, recent) = (admin.listener.addr(), admin.recent.clone());
        let metrics = Arc::new(Metrics::new(config.metrics_models));
        let sinks = Sinks::start(vec![Sink::Metrics(metrics.clone())]);
        let sinks = Arc::new(sinks.context("cannot start the metrics")?);
        // in a demo there are a few dozen records, so nothing needs to bound them
        let (sender, records) = mpsc::unbounded_channel();
        let counted = sinks.clone();
        let emit = move |record: RequestRecord, drip| {
            let record = Arc::new(record);
            recent.push(record.clone(), drip);
            counted.emit(&record);
            // nobody receives once the demo is over
            let _ = sender.send(record);
        };
        let proxy = Proxy::bind(&config, Arc::new(emit))
            .await
            .context("cannot start the proxy")?;
        let scrape = Scrape {
            metrics,
            gauge: proxy.gauge(),
            sinks,
            upstream: config.upstream.authority.clone(),
        };
        let live = admin.serve(&config, &proxy, scrape)?;
        Ok(Stage {
            proxy: proxy.local_addr(),
            server,
            page,
            scenarios,
            records,
            running: [
                Running::start(|stop| proxy.run(stop, std::future::pending())),
                Running::start(|stop| simulator.run(stop)),
            ],
            _live: live,
        })
    }

    /// Ends the proxy and then the server, so that no answer is cut by its server.
    pub async fn close(self) {
        for Running { stop, task } in self.running {
            drop(stop);
            // a task that panicked has said so
            let _ = task.await;
        }
    }
}

impl Running {
    fn start<F>(run: impl FnOnce(Stop) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let stopped: Stop = Box::pin(async {
            let _ = stopped.await; // always an error: the sender is only ever dropped
        });
        Running {
            stop,
            task: tokio::spawn(run(stopped)),
        }
    }
}

/// Ready when a task is to end.
type Stop = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
