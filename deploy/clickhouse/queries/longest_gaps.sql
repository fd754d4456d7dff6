-- The histogram of a log without timelines: the longest gap between token events of each stream, by from where its row goes.
SELECT
    ifNull({by:Identifier}, '(none)') AS name,
    driplineBucket(assumeNotNull(gap_max_ms)) AS from_ms,
    count() AS n
FROM dripline.requests
WHERE measured AND gap_max_ms IS NOT NULL AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY name, from_ms
ORDER BY from_ms, n DESC, name
