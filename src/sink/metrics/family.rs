//! A metric and its series, in the order of their labels, so that two scrapes differ by their numbers only.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::encoding::DescriptorEncoder;

use super::catalog::About;
use super::series::{Series, Value};

/// A metric at one moment.
#[derive(Debug)]
pub struct Reading {
    /// Which one it is.
    pub about: &'static About,
    /// The labels of each series that are there, and what it says.
    pub series: Vec<(Vec<(&'static str, String)>, Value)>,
}

/// A metric: a series for each set of labels.
#[derive(Debug)]
pub struct Family<S> {
    about: &'static About,
    /// By the values of the labels, in the order of `about.labels`.
    series: BTreeMap<Vec<String>, S>,
}

impl<S: Series> Family<S> {
    /// The metric `about`, without a series.
    pub fn new(about: &'static About) -> Self {
        Family {
            about,
            series: BTreeMap::new(),
        }
    }

    /// The series with these values of its labels, in the order of `about.labels`. An empty value is a label that is
    /// not there.
    pub fn at<const N: usize>(&mut self, values: [&str; N]) -> &mut S {
        debug_assert_eq!(self.about.labels.len(), N, "{}", self.about.name);
        let about = self.about;
        self.series
            .entry(values.map(str::to_owned).into())
            .or_insert_with(|| S::new(about))
    }

    /// Writes all series; of a metric without any its help and kind alone.
    pub fn encode(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let About {
            name, help, unit, ..
        } = self.about;
        let mut metric = encoder.encode_descriptor(name, help, unit.as_ref(), S::KIND)?;
        for (values, series) in &self.series {
            let labels: Vec<_> = self.labels(values).collect();
            series.encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }

    /// All series as they are now.
    pub fn read(&self) -> Reading {
        let owned = |(name, value): (_, &str)| (name, value.to_owned());
        let series = self.series.iter().map(|(values, series)| {
            let labels = self.labels(values).map(owned);
            (labels.collect(), series.value())
        });
        Reading {
            about: self.about,
            series: series.collect(),
        }
    }

    /// The labels that are there.
    fn labels<'a>(&self, values: &'a [String]) -> impl Iterator<Item = (&'static str, &'a str)> {
        let values = values.iter().map(String::as_str);
        let all = self.about.labels.iter().copied().zip(values);
        all.filter(|(_, value)| !value.is_empty())
    }
}
