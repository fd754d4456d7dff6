-- The histogram of a log with timelines: all gaps between token events, by from where the row goes.
SELECT
    ifNull({by:Identifier}, '(none)') AS name,
    driplineBucket(gap_us / 1000) AS from_ms,
    count() AS n
FROM dripline.requests
ARRAY JOIN token_gaps_us AS gap_us
WHERE measured AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY name, from_ms
ORDER BY from_ms, n DESC, name
