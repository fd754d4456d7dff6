-- Records of dripline in ClickHouse: what `dripline report` reads as typed columns, and each record as it was.
--
--   lines of logs ─────────────────┐           ┌→ records   those of dripline
--                                  ├→ lines ───┤
--   the Collector's logs → otlp ───┘           └→ unread    all others
--
--   clickhouse-client < schema.sql
--   clickhouse-client --query 'INSERT INTO dripline.lines FORMAT LineAsString' < dripline.jsonl
--
-- It may be run again: what is there stays as it is.

CREATE DATABASE IF NOT EXISTS dripline;

-- A row for each request. Columns are called as those of `dripline report --csv`; durations are in ms as in the record, null
-- where nothing was measured. Figures are kept for 13 months, records as they were for 3. A record that came twice (a delivery
-- that was repeated, a log that was loaded again) becomes one row, at once for those who read it with FINAL.
CREATE TABLE IF NOT EXISTS dripline.records
(
    id                String,
    started_at        DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
    label             LowCardinality(Nullable(String)),
    instance          LowCardinality(String),
    method            LowCardinality(Nullable(String)),
    path              LowCardinality(Nullable(String)),
    model             LowCardinality(Nullable(String)),
    request_id        Nullable(String),
    trace_id          Nullable(String),
    upstream          LowCardinality(Nullable(String)),
    status            Nullable(UInt16),
    response_id       Nullable(String),
    api               LowCardinality(Nullable(String)),
    end               LowCardinality(String),
    error_type        LowCardinality(Nullable(String)),
    ttft_ms           Nullable(Float64),
    ttft_null         LowCardinality(Nullable(String)),
    ttfa_ms           Nullable(Float64),
    first_token_ms    Nullable(Float64),
    last_token_ms     Nullable(Float64),
    end_ms            Nullable(Float64),
    gaps              UInt64, -- between token events, as the next five
    gap_mean_ms       Nullable(Float64),
    gap_p50_ms        Nullable(Float64),
    gap_p90_ms        Nullable(Float64),
    gap_p99_ms        Nullable(Float64),
    gap_max_ms        Nullable(Float64),
    token_gaps_us     Array(UInt64) CODEC(T64, ZSTD), -- each one, where there is a timeline
    stalls            UInt8,
    token_events      Nullable(UInt64),
    chunks            UInt64,
    bytes             UInt64,
    prompt_tokens     Nullable(UInt64),
    completion_tokens Nullable(UInt64),
    in_flight         UInt64,
    cold              Bool,
    verdict           LowCardinality(Nullable(String)),
    side              LowCardinality(Nullable(String)), -- `where` is a word of SQL
    confidence        Nullable(Float64),
    cut_kind          LowCardinality(Nullable(String)),
    cut_after_ms      Nullable(Float64),
    cut_side          LowCardinality(Nullable(String)),
    findings          Nested(code LowCardinality(String), sentence String),
    record            String CODEC(ZSTD(3)) TTL toDateTime(started_at) + INTERVAL 3 MONTH,

    INDEX by_id (id, request_id, trace_id, response_id) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(started_at) -- few parts, and what is too old is dropped part by part
ORDER BY (toStartOfHour(started_at), ifNull(model, ''), started_at, id) -- a page is of some hours, often of one model
TTL toDateTime(started_at) + INTERVAL 13 MONTH
SETTINGS ttl_only_drop_parts = 1, default_compression_codec = 'ZSTD(1)';

-- Where lines go in. Nothing is kept here.
CREATE TABLE IF NOT EXISTS dripline.lines (line String) ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS dripline.lines_to_records TO dripline.records AS
WITH
    JSONExtract(line, 'Tuple(
        schema UInt32, id String, started_at String, label Nullable(String), instance String,
        request Tuple(method Nullable(String), path Nullable(String), model Nullable(String),
            request_id Nullable(String), trace_id Nullable(String)),
        upstream Tuple(name Nullable(String)),
        response Tuple(status Nullable(UInt16), id Nullable(String)),
        api Nullable(String),
        at Tuple(first_token_ms Nullable(Float64), last_token_ms Nullable(Float64), end_ms Nullable(Float64)),
        ttft_ms Nullable(Float64), ttfa_ms Nullable(Float64), ttft_null Nullable(String),
        gaps Tuple(token Tuple(n UInt64, mean_ms Nullable(Float64), p50_ms Nullable(Float64), p90_ms Nullable(Float64),
            p99_ms Nullable(Float64), max_ms Nullable(Float64))),
        stalls Array(Tuple(gap_ms Float64)),
        counts Tuple(token_events Nullable(UInt64), chunks UInt64, bytes UInt64),
        tokens Tuple(prompt Nullable(UInt64), completion Nullable(UInt64)),
        load Tuple(in_flight UInt64, cold Bool),
        end String, error Tuple(type Nullable(String)),
        verdict Tuple(timing Nullable(String), where Nullable(String), confidence Nullable(Float64),
            cut Tuple(kind Nullable(String), after_ms Nullable(Float64), side Nullable(String)),
            findings Array(Tuple(code String, sentence String))),
        timeline Array(Tuple(UInt64, Nullable(UInt64), UInt64, UInt64, UInt64)))') AS r,
    arrayFilter(row -> row.5 > 0, r.timeline) AS rows, -- (arrived, flushed, bytes, events, token events)
    -- to each chunk with token events from the one before it, and nothing between those that came together
    arrayConcat(
        arrayMap((row, before) -> if(row.1 > before.1, row.1 - before.1, 0), arrayPopFront(rows), arrayPopBack(rows)),
        arrayResize([], arraySum(row -> least(row.4, row.5, 1048576) - (row.4 > 0), rows))) AS token_gaps
SELECT
    r.id AS id,
    parseDateTime64BestEffort(r.started_at, 6, 'UTC') AS started_at,
    r.label AS label,
    r.instance AS instance,
    r.request.method AS method,
    r.request.path AS path,
    r.request.model AS model,
    r.request.request_id AS request_id,
    r.request.trace_id AS trace_id,
    r.upstream.name AS upstream,
    r.response.status AS status,
    r.response.id AS response_id,
    r.api AS api,
    r.end AS end,
    r.error.type AS error_type,
    r.ttft_ms AS ttft_ms,
    r.ttft_null AS ttft_null,
    r.ttfa_ms AS ttfa_ms,
    r.at.first_token_ms AS first_token_ms,
    r.at.last_token_ms AS last_token_ms,
    r.at.end_ms AS end_ms,
    r.gaps.token.n AS gaps,
    r.gaps.token.mean_ms AS gap_mean_ms,
    r.gaps.token.p50_ms AS gap_p50_ms,
    r.gaps.token.p90_ms AS gap_p90_ms,
    r.gaps.token.p99_ms AS gap_p99_ms,
    r.gaps.token.max_ms AS gap_max_ms,
    token_gaps AS token_gaps_us,
    length(r.stalls) AS stalls,
    r.counts.token_events AS token_events,
    r.counts.chunks AS chunks,
    r.counts.bytes AS bytes,
    r.tokens.prompt AS prompt_tokens,
    r.tokens.completion AS completion_tokens,
    r.load.in_flight AS in_flight,
    r.load.cold AS cold,
    r.verdict.timing AS verdict,
    r.verdict.where AS side,
    r.verdict.confidence AS confidence,
    r.verdict.cut.kind AS cut_kind,
    r.verdict.cut.after_ms AS cut_after_ms,
    r.verdict.cut.side AS cut_side,
    r.verdict.findings.code AS `findings.code`,
    r.verdict.findings.sentence AS `findings.sentence`,
    line AS record
FROM dripline.lines
WHERE r.schema = 1 AND r.id != '' AND parseDateTime64BestEffortOrNull(r.started_at, 6, 'UTC') IS NOT NULL;

-- What came and is no record: a torn line, a line of another program, a record of a newer dripline. Its beginning tells which.
CREATE TABLE IF NOT EXISTS dripline.unread
(
    received_at DateTime DEFAULT now(),
    beginning   String
)
ENGINE = MergeTree
ORDER BY received_at
TTL received_at + INTERVAL 1 MONTH;

CREATE MATERIALIZED VIEW IF NOT EXISTS dripline.lines_to_unread TO dripline.unread AS
SELECT leftUTF8(toValidUTF8(line), 160) AS beginning
FROM dripline.lines
WHERE NOT (JSONExtractUInt(line, 'schema') = 1 AND JSONExtractString(line, 'id') != ''
    AND parseDateTime64BestEffortOrNull(JSONExtractString(line, 'started_at'), 6, 'UTC') IS NOT NULL)
    AND NOT match(line, '^\\s*$');

-- A percentile as dripline has it: nearest-rank, at index (p·(n−1)+50)/100 of the sorted values. ClickHouse's own quantiles
-- have other ranks, so that they differ by one value or lie between two. Null without values.
CREATE OR REPLACE FUNCTION driplinePercentile AS (values, p) ->
    if(empty(values), NULL, arraySort(values)[intDiv(p * (length(values) - 1) + 50, 100) + 1]);

-- Milliseconds in whole µs; a half goes up.
CREATE OR REPLACE FUNCTION driplineRounded AS ms -> floor(1000 * ms + 0.5) / 1000;

-- How values in ms are spread: a tuple with the keys of `dripline report --json`, of nulls without values.
CREATE OR REPLACE FUNCTION driplineSpread AS values -> CAST(
    (
        if(empty(values), NULL, driplineRounded(arrayAvg(values))),
        if(empty(values), NULL, driplineRounded(arrayReduce('stddevPopStable', values))),
        driplineRounded(driplinePercentile(values, 50)),
        driplineRounded(driplinePercentile(values, 95)),
        driplineRounded(driplinePercentile(values, 99)),
        driplineRounded(driplinePercentile(values, 100))
    ),
    'Tuple(mean_ms Nullable(Float64), std_ms Nullable(Float64), p50_ms Nullable(Float64), p95_ms Nullable(Float64),
        p99_ms Nullable(Float64), max_ms Nullable(Float64))');

-- Where the row of the report's histograms begins that a duration is in: 1, 2 and 5 of each power of ten from 0.1 ms to 1000 s.
-- What is shorter is in the row from 0 on.
CREATE OR REPLACE FUNCTION driplineBucket AS ms -> arrayLast(edge -> edge <= ms,
    [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6]);

-- All requests, each once. `measured` are those that latency is told of: streams that came whole. Failures, cuts and whole
-- replies have no place beside them. Hours are those of UTC; `all` is one group of everything.
CREATE OR REPLACE VIEW dripline.requests AS
SELECT
    *,
    started_at + toIntervalMicrosecond(ifNull(round(1000 * end_ms), 0)) AS ended_at,
    end NOT IN ('complete', 'upgraded', 'not_a_stream', 'client_gone', 'proxy_stopped') AS failed,
    end = 'complete' AND verdict IS NOT NULL AND ttft_ms IS NOT NULL AS measured,
    if(completion_tokens > 1, driplineRounded(greatest(last_token_ms - first_token_ms, 0) / (completion_tokens - 1)), NULL) AS per_token_ms,
    formatDateTime(started_at, '%Y-%m-%d %H:00') AS hour,
    'all' AS all
FROM dripline.records FINAL;
