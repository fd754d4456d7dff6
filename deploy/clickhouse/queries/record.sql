-- One record by its id, or by the client's x-request-id, the trace or the answer's id; FORMAT TSVRaw for `dripline report - --explain`.
SELECT record
FROM dripline.records FINAL
WHERE id = {id:String} OR request_id = {id:String} OR trace_id = {id:String} OR response_id = {id:String}
