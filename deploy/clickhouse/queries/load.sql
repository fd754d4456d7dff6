-- Time to first token by load: the streams that found so many others open.
SELECT
    in_flight,
    count() AS n,
    untuple(driplineSpread(groupArray(ttft_ms))) AS ttft
FROM dripline.requests
WHERE measured AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY in_flight
ORDER BY in_flight
