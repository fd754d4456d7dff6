-- Latency by model, path, upstream, verdict, hour, label, instance or all. Cold streams have rows of their own.
SELECT
    ifNull({by:Identifier}, '(none)') AS name,
    cold,
    count() AS n,
    untuple(driplineSpread(groupArray(ttft_ms))) AS ttft,
    untuple(driplineSpread(groupArray(gap_p50_ms))) AS gap_p50, -- each stream's
    untuple(driplineSpread(groupArray(gap_p99_ms))) AS gap_p99,
    untuple(driplineSpread(groupArray(per_token_ms))) AS per_token,
    untuple(driplineSpread(groupArray(ifNull(end_ms, 0)))) AS end,
    driplineRounded(sum(gap_mean_ms * request.gaps) / nullIf(sum(request.gaps), 0)) AS gap_mean_ms, -- all gaps of all streams
    sum(request.gaps) AS gaps,
    sum(request.prompt_tokens) AS prompt_tokens,
    sum(request.completion_tokens) AS completion_tokens
FROM dripline.requests AS request
WHERE measured AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY name, cold
ORDER BY name, cold
