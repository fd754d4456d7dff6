-- Records by way of an OpenTelemetry Collector, whose ClickHouse exporter puts each log into a row of the table below (its
-- create_schema is false, its logs_table_name otlp). To be run after schema.sql; nothing is kept here.
--
-- A log is a record in either form:
-- - its body is the record's line: `dripline proxy --log FILE`, read by the Collector's filelog receiver;
-- - its attributes are the record's fields: `dripline proxy --otlp`. The exporter makes text of each value, JSON of objects.
-- What is neither goes to dripline.unread, so give the exporter only dripline's logs.

CREATE TABLE IF NOT EXISTS dripline.otlp
(
    Timestamp          DateTime64(9),
    TraceId            String,
    SpanId             String,
    TraceFlags         UInt8,
    SeverityText       LowCardinality(String),
    SeverityNumber     UInt8,
    ServiceName        LowCardinality(String),
    Body               String,
    ResourceSchemaUrl  LowCardinality(String),
    ResourceAttributes Map(LowCardinality(String), String),
    ScopeSchemaUrl     LowCardinality(String),
    ScopeName          String,
    ScopeVersion       LowCardinality(String),
    ScopeAttributes    Map(LowCardinality(String), String),
    LogAttributes      Map(LowCardinality(String), String),
    EventName          String
)
ENGINE = Null;

-- Text has no type. These fields are texts in a record, and null where empty; all others are JSON as they stand.
CREATE MATERIALIZED VIEW IF NOT EXISTS dripline.otlp_to_lines TO dripline.lines AS
WITH
    ['id', 'started_at', 'label', 'instance', 'api', 'ttft_null', 'stamps', 'end'] AS texts,
    arrayMap(
        (key, value) -> concat(toJSONString(key), ':',
            multiIf(value = '', 'null', has(texts, key), toJSONString(value), value)),
        mapKeys(LogAttributes), mapValues(LogAttributes)) AS fields
SELECT if(mapContains(LogAttributes, 'schema'), concat('{', arrayStringConcat(fields, ','), '}'), Body) AS line
FROM dripline.otlp;
