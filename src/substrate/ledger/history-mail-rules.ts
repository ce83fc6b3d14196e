/** Each fact about a recipient's copy of a message, from the events, in their order. */
const LINE = `line AS (
  SELECT event.seq AS event, event.rowid * 1000000 + ids.key AS place, mail.seq AS mail_seq, recipients.value AS recipient, mail.sender,
    CASE event.type WHEN 'mail-sent' THEN 'delivered' ELSE substr(event.type, 6) END AS what
  FROM event,
    json_each(coalesce(event.data -> 'ids', json_array(event.data ->> 'id'))) AS ids,
    json_each(iif(json_type(event.data, '$.to') = 'text', json_array(event.data ->> 'to'), event.data -> 'to')) AS recipients
  JOIN mail ON mail.id = ids.value
  WHERE event.type IN ('mail-sent', 'mail-accepted', 'mail-dead', 'mail-void'))`;

export const MAIL_RULES = {
  /** Messages have no gaps, ids that match their rows, rising times, and one event each. */
  'mail-seq-gap': `
    SELECT 'message ' || seq || ': ' || wrong FROM (
      SELECT mail.seq, CASE
        WHEN mail.seq <> place THEN 'it is at place ' || place
        WHEN mail.id <> (SELECT id FROM mail_session) || '-' || mail.epoch || '-' || mail.seq THEN 'its id does not match'
        WHEN mail.ts < before THEN 'it is older than the one before'
        WHEN event.seq IS NULL THEN 'event ' || event_seq || ' does not record it' END AS wrong
      FROM (SELECT *, row_number() OVER (ORDER BY seq) AS place, lag(ts) OVER (ORDER BY seq) AS before FROM mail) AS mail
      LEFT JOIN event ON event.seq = event_seq AND event.type = 'mail-sent' AND event.stream = mail.run_id
        AND event.data ->> 'seq' = mail.seq AND event.data ->> 'id' = mail.id)
    WHERE wrong IS NOT NULL
    UNION ALL
    SELECT 'the message of event ' || seq || ' is gone' FROM event
    WHERE type = 'mail-sent' AND seq NOT IN (SELECT event_seq FROM mail)`,

  /** Each message has one delivery for each of its recipients, recorded as delivered. */
  'mail-undelivered': `
    WITH ${LINE}
    SELECT 'message ' || seq || ' does not have exactly its recipients' FROM mail WHERE
      (SELECT json_group_array(recipient ORDER BY recipient) FROM mail_delivery WHERE mail_seq = seq)
        <> (SELECT json_group_array(value ORDER BY value) FROM json_each(recipients))
      OR EXISTS (SELECT 1 FROM mail_delivery WHERE mail_seq = seq
        AND (mail_seq, recipient) NOT IN (SELECT mail_seq, recipient FROM line WHERE what = 'delivered'))
    UNION ALL
    SELECT 'a delivery of message ' || mail_seq || ', which is gone' FROM mail_delivery
    WHERE mail_seq NOT IN (SELECT seq FROM mail)`,

  /** A delivery is accepted at most once, after it was delivered, and stays accepted. */
  'mail-ack-wrong': `
    WITH ${LINE}, stated AS (
      SELECT 'message ' || line.mail_seq || ' to ' || line.recipient AS key, event, what, state,
        count(*) OVER (PARTITION BY line.mail_seq, line.recipient, what ORDER BY place) AS times,
        min(iif(what = 'delivered', place, NULL)) OVER (PARTITION BY line.mail_seq, line.recipient) AS delivered, place
      FROM line LEFT JOIN mail_delivery USING (mail_seq, recipient))
    SELECT key || ': ' || what || ' twice' FROM stated WHERE times = 2
    UNION ALL
    SELECT key || ': accepted before it was delivered' FROM stated
    WHERE what = 'accepted' AND (delivered IS NULL OR delivered > place)
    UNION ALL
    SELECT key || ': accepted, and now ' || coalesce(state, 'gone') FROM stated
    WHERE what = 'accepted' AND state IS NOT 'accepted'
    UNION ALL
    SELECT 'message ' || mail_seq || ' to ' || recipient || ' is ' || state || ', and no event says since when'
    FROM mail_delivery WHERE state IN ('accepted', 'dead', 'void')
      AND (mail_seq, recipient, state) NOT IN (SELECT mail_seq, recipient, what FROM line)`,

  /** A turn's deferred messages take effect only if it completes, and what promises a document never does: squad answers in its place. */
  'mail-held-wrong': `
    WITH ${LINE}
    SELECT 'message ' || mail_seq || ' to ' || recipient || ' is ' || state || ', held by '
      || iif(mail.held IS NULL, 'no turn', 'turn ' || mail.held || ' (' || coalesce(outcome, 'running') || ')')
    FROM mail JOIN mail_delivery AS copy ON mail_seq = mail.seq LEFT JOIN settlement ON attempt_id = mail.held
    WHERE CASE WHEN mail.held IS NULL OR outcome = 'completed' THEN CASE
        WHEN state = 'void' THEN coalesce(mail.action, '') <> 'answer' OR mail.held IS NULL ELSE copy.held = 1 END
      ELSE copy.held = 0 OR state <> iif(outcome IS NULL, 'waiting', 'void')
        OR (mail_seq, recipient) IN (SELECT mail_seq, recipient FROM line WHERE what = 'accepted') END`,

  /** A reader that accepts several messages of a sender at once accepts the oldest first. */
  'mail-ack-order': `
    WITH ${LINE}
    SELECT recipient || ' read ' || mail_seq || ' after ' || before FROM (
      SELECT *, lag(mail_seq) OVER (PARTITION BY event, recipient, sender ORDER BY place) AS before
      FROM line WHERE what = 'accepted')
    WHERE mail_seq <= before`,
};
