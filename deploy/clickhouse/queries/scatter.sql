-- Time to first token against gap p99: how many streams were in each field of rows and columns of 1, 2 and 5.
SELECT
    ifNull({by:Identifier}, '(none)') AS name,
    driplineBucket(assumeNotNull(ttft_ms)) AS ttft_from_ms,
    driplineBucket(assumeNotNull(gap_p99_ms)) AS gap_p99_from_ms,
    count() AS n
FROM dripline.requests
WHERE measured AND gap_p99_ms IS NOT NULL AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY name, ttft_from_ms, gap_p99_from_ms
ORDER BY name, ttft_from_ms, gap_p99_from_ms
