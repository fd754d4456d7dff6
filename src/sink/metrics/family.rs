//! A metric and its series, in the order of their labels, so that two scrapes differ by their numbers only.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::encoding::DescriptorEncoder;

use super::catalog::About;
use super::series::Series;

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
            let labels: Vec<(&str, &str)> = self
                .about
                .labels
                .iter()
                .zip(values)
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            series.encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
