-- What only several records show, with what the last of them says. (Limits are in limits.sql.)
SELECT
    code,
    count() AS n,
    argMax(sentence, ended_at) AS last
FROM dripline.requests
ARRAY JOIN findings.code AS code, findings.sentence AS sentence
WHERE code IN ('constant_cut', 'constant_latency', 'cold_start') AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
GROUP BY code
ORDER BY code
