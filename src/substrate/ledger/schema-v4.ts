/** Drops two unused tables, and makes sealed events of trace lines that had none. */
export const SCHEMA_V4 = `
DROP TABLE message;
DROP TABLE record;

INSERT INTO event (seq, stream, type, at, cause, epoch, data, seal)
SELECT seq, stream, type, at, NULL, NULL, data, row_digest(seq, stream, type, at, NULL, NULL, data) FROM (
  SELECT (SELECT coalesce(max(seq), 0) FROM event) + row_number() OVER (ORDER BY n) AS seq, mail.run_id AS stream,
    CASE what WHEN 'accepted' THEN 'mail-accepted' ELSE 'mail-void' END AS type, mail_trace.ts AS at,
    CASE what WHEN 'accepted' THEN json_object('to', recipient, 'ids', json_array(mail.id))
      ELSE json_object('id', mail.id, 'to', json_array(recipient)) END AS data
  FROM mail_trace JOIN mail ON mail.seq = mail_seq WHERE what IN ('accepted', 'void'))
ORDER BY seq;
DROP TABLE mail_trace;
`;
