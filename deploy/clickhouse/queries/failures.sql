-- The latest failures: those that ended last first.
SELECT
    id, started_at, model, status,
    end_ms AS after_ms,
    end, error_type
FROM dripline.requests
WHERE failed AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
ORDER BY ended_at DESC, id DESC
LIMIT {limit:UInt64}
