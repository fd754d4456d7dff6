-- The longest waits: streams in which someone waited longest for a token, the first one or the next, or left before it came.
SELECT
    id, started_at, model, verdict,
    greatest(ifNull(ttft_ms, -1), ifNull(in_vain_ms, -1), ifNull(gap_max_ms, -1)) AS waited_ms,
    multiIf(waited_ms = ttft_ms, 'first token', waited_ms = in_vain_ms, 'first token, in vain', 'next token') AS waited_for,
    ttft_ms, gap_p99_ms, in_flight, cold, end
FROM
(
    SELECT *, if(end = 'client_gone' AND ttft_ms IS NULL, end_ms, NULL) AS in_vain_ms
    FROM dripline.requests
    WHERE verdict IS NOT NULL AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
)
WHERE waited_ms >= 0
ORDER BY waited_ms DESC, ended_at, id
LIMIT {limit:UInt64}
