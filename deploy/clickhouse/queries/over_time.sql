-- Time to first token and gaps over time: the warm streams of each step of so many seconds.
SELECT
    toStartOfInterval(started_at, toIntervalSecond({step:UInt32})) AS at,
    count() AS n,
    untuple(driplineSpread(groupArray(ttft_ms))) AS ttft,
    untuple(driplineSpread(groupArray(gap_p99_ms))) AS gap_p99
FROM dripline.requests
WHERE measured AND NOT cold AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY at
ORDER BY at
