-- A log again, for `dripline report -`: with FORMAT TSVRaw the lines are byte for byte those that came in. Narrow it down first,
-- and mind that records are kept for a shorter time than their figures.
SELECT record
FROM dripline.requests
WHERE record != '' AND started_at >= {since:DateTime64(6, 'UTC')} AND started_at < {until:DateTime64(6, 'UTC')}
ORDER BY ended_at, id
