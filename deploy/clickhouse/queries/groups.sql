-- How requests ended and streams came, by model, path, upstream, verdict, hour, label, instance or all.
SELECT
    ifNull({by:Identifier}, '(none)') AS name,
    count() AS n,
    countIf(failed) AS errors,
    countIf(stalls > 0) AS stalled,
    sumMap(map(end, 1)) AS ends,
    sumMapIf(map(assumeNotNull(verdict), 1), verdict IS NOT NULL) AS verdicts
FROM dripline.requests
WHERE started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY name
ORDER BY n DESC, name
