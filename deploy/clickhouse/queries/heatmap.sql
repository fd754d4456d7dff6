-- A heatmap over time: how many streams of each step had a ttft_ms, or a gap_p99_ms, from there on to the next of 1, 2 and 5.
SELECT
    toStartOfInterval(started_at, toIntervalSecond({step:UInt32})) AS at,
    driplineBucket(assumeNotNull({figure:Identifier})) AS from_ms,
    count() AS n
FROM dripline.requests
WHERE measured AND {figure:Identifier} IS NOT NULL AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY at, from_ms
ORDER BY at, from_ms
