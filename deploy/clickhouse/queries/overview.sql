-- The head of the report, and its throughput: of the warm streams, from the first start to the last end.
SELECT
    count() AS records,
    minOrNull(started_at) AS from,
    maxOrNull(started_at) AS until,
    countIf(failed) AS errors,
    nullIf(round(dateDiff('microsecond', from, maxOrNull(ended_at)) / 1e6, 3), 0) AS duration,
    countIf(measured AND NOT cold) AS completed,
    sumIf(prompt_tokens, measured AND NOT cold) AS total_input_tokens,
    sumIf(completion_tokens, measured AND NOT cold) AS total_output_tokens,
    round(completed / duration, 3) AS request_throughput,
    round(total_output_tokens / duration, 3) AS output_throughput,
    round((total_input_tokens + total_output_tokens) / duration, 3) AS total_token_throughput
FROM dripline.requests
WHERE started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
