-- Limits that seem to have cut streams. Those of one kind and side are one where no two neighbours differ by more than 50 ms.
SELECT
    cut_kind AS kind,
    argMin(cut_after_ms, ended_at) AS after_ms,
    cut_side AS `where`,
    count() AS n
FROM
(
    SELECT *, sum(is_new) OVER (PARTITION BY cut_kind, cut_side ORDER BY cut_after_ms) AS number
    FROM
    (
        SELECT
            cut_kind, cut_side, cut_after_ms, ended_at,
            cut_after_ms - lagInFrame(cut_after_ms, 1, -inf) OVER (PARTITION BY cut_kind, cut_side ORDER BY cut_after_ms) > 50 AS is_new
        FROM dripline.requests
        WHERE cut_kind IS NOT NULL AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
    )
)
GROUP BY kind, `where`, number
ORDER BY n DESC, kind, `where`, after_ms
