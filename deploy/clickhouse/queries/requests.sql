-- The worst requests, by ttft_ms, gap_max_ms, end_ms or any other column; the columns are those of `dripline report --csv`.
SELECT
    id, started_at, label, instance, method, path, model, upstream, status, api, end, error_type, ttft_ms, ttft_null, ttfa_ms,
    end_ms, gaps, gap_p50_ms, gap_p90_ms, gap_p99_ms, gap_max_ms, stalls, token_events, chunks, bytes, prompt_tokens,
    completion_tokens, in_flight, cold, verdict, side AS `where`, confidence, cut_after_ms
FROM dripline.requests
WHERE started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
ORDER BY {worst:Identifier} DESC NULLS LAST, id
LIMIT {limit:UInt64}
