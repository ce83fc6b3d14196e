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

/** Dollars as whole micro-dollars, as `microUsd` makes them. */
const MICRO_USD = (usd: string): string => `max(CAST(round((${usd}) * 1e6) AS INTEGER), (${usd}) > 0)`;

/** A clock may be set back within a transaction, but not by this much. */
const CLOCK_SLACK_MS = 2_000;

export const EVENT_RULES = {
  'seq-gap': `
    SELECT 'event ' || seq || ' is at place ' || place
    FROM (SELECT seq, row_number() OVER (ORDER BY seq) AS place FROM event) WHERE seq <> place`,

  'cause-wrong': `
    SELECT 'event ' || event.seq || CASE
      WHEN cause.seq IS NULL THEN ': its cause ' || event.cause || ' is missing'
      WHEN cause.seq >= event.seq THEN ' comes before its cause ' || cause.seq
      WHEN cause.cause IS NOT NULL THEN ': its cause ' || cause.seq || ' is a decision'
      ELSE ': its cause ' || cause.seq || ' belongs to ' || cause.stream END
    FROM event LEFT JOIN event AS cause ON cause.seq = event.cause
    WHERE event.cause IS NOT NULL AND (cause.seq IS NULL OR cause.seq >= event.seq OR cause.cause IS NOT NULL
      OR cause.stream NOT IN (event.stream, 'workspace'))`,

  'epoch-backwards': `
    SELECT 'event ' || seq || ' of ' || stream || ': epoch ' || epoch || ' after ' || newest FROM (
      SELECT seq, stream, epoch, max(epoch) OVER (PARTITION BY stream ORDER BY seq) AS newest
      FROM event WHERE epoch IS NOT NULL)
    WHERE epoch < newest`,

  'row-without-event': `
    WITH stated (seq, type, about) AS (
      SELECT claim_seq, 'attempt-claimed', id FROM attempt
      UNION ALL SELECT seq, 'attempt-settled', attempt_id FROM settlement
      UNION ALL SELECT seq, 'late-result', attempt_id FROM late_result
      UNION ALL SELECT seq, type, attempt_id FROM observation
      UNION ALL SELECT seq, 'operator-command', NULL FROM operator_command)
    SELECT stated.type || ' of ' || coalesce(about, 'a command') || ': event ' || stated.seq || ' does not say so'
    FROM stated LEFT JOIN event ON event.seq = stated.seq AND event.type = stated.type
      AND (about IS NULL OR event.data ->> 'attemptId' = about)
    WHERE event.seq IS NULL`,

  /** Each step of a run starts where the last one ended, and every decision belongs to a step. */
  'applied-twice': `
    SELECT 'run ' || run_id || ' at ' || at || ': a step from ' || cursor || ' to ' || seq FROM (
      SELECT run_id, cursor, seq, lag(seq, 1, 0) OVER (PARTITION BY run_id ORDER BY rowid) AS at,
        count(*) OVER (PARTITION BY run_id, cursor, seq ORDER BY rowid) AS times
      FROM application)
    WHERE cursor <> at OR seq < cursor OR times > 1
    UNION ALL
    SELECT 'run ' || id || ' is at ' || applied || ', its steps end at ' || ended FROM (
      SELECT id, applied, coalesce(last.seq, 0) AS ended
      FROM run LEFT JOIN (SELECT run_id, seq, max(rowid) FROM application GROUP BY run_id) AS last ON run_id = id)
    WHERE applied <> ended
    UNION ALL
    SELECT 'decision ' || seq || ' belongs to no step of epoch ' || epoch FROM event
    WHERE cause IS NOT NULL AND epoch IS NOT NULL
      AND (stream, cause, epoch) NOT IN (SELECT run_id, seq, epoch FROM application)`,

  /** A timer fires at most once for each setting, and never early. It has a row until it fires or is cleared. */
  'timer-wrong': `
    WITH step AS (
      SELECT seq, stream, type, at, data ->> 'id' AS id, data ->> 'dueAt' AS due, data ->> 'set' AS setting
      FROM event WHERE type IN ('timer-set', 'timer-cleared', 'timer-fired')),
    fired AS (
      SELECT *, lag(type) OVER before AS was, lag(seq) OVER before AS set_seq, lag(due) OVER before AS set_due
      FROM step WINDOW before AS (PARTITION BY stream, id ORDER BY seq)),
    last AS (SELECT stream, id, due, type, max(seq) AS seq FROM step GROUP BY stream, id)
    SELECT 'event ' || seq || ': ' || CASE
      WHEN id IS NULL THEN 'it names no timer'
      WHEN was IS NOT 'timer-set' OR set_seq IS NOT setting THEN 'timer ' || id || ' fired twice, or was never set'
      ELSE 'timer ' || id || ' fired before its time' END
    FROM fired WHERE type = 'timer-fired' AND (id IS NULL OR was IS NOT 'timer-set' OR set_seq IS NOT setting
      OR at + ${CLOCK_SLACK_MS} < set_due)
    UNION ALL
    SELECT 'timer ' || coalesce(run_id || ' ' || timer.id, stream || ' ' || last.id) || ' is '
      || iif(timer.id IS NULL, 'lost', 'not as its events set it')
    FROM timer FULL JOIN (SELECT * FROM last WHERE type = 'timer-set') AS last ON run_id = stream AND timer.id = last.id
    WHERE timer.set_seq IS NOT last.seq OR timer.due_at IS NOT last.due`,

  /** One event created each run, and the run has that event's name. */
  'run-differs': `
    SELECT 'run ' || coalesce(id, stream) || ' is ' || coalesce(name, 'gone') || '; its events say ' || coalesce(said, 'nothing')
    FROM run FULL JOIN (
      SELECT stream, count(*) AS times, data ->> 'name' AS said, min(seq) FROM event WHERE type = 'run-created' GROUP BY stream)
      ON id = stream
    WHERE times IS NOT 1 OR said IS NULL OR name IS NOT said`,
};

export const ATTEMPT_RULES = {
  'settled-not-once': `
    WITH settled AS (SELECT attempt_id, count(*) AS number FROM settlement GROUP BY attempt_id),
    recorded AS (
      SELECT data ->> 'attemptId' AS attempt_id, count(*) AS number FROM event WHERE type = 'attempt-settled' GROUP BY 1)
    SELECT 'attempt ' || id || ' is ' || status || ': ' || coalesce(settled.number, 0) || ' rows, '
      || coalesce(recorded.number, 0) || ' events'
    FROM attempt LEFT JOIN settled ON settled.attempt_id = id LEFT JOIN recorded ON recorded.attempt_id = id
    WHERE coalesce(settled.number, 0) <> (status = 'settled') OR coalesce(recorded.number, 0) <> (status = 'settled')`,

  'settled-before-claim': `
    SELECT 'attempt ' || attempt_id || ' was settled at ' || seq || ', before its claim'
    FROM settlement LEFT JOIN attempt ON id = attempt_id WHERE claim_seq IS NULL OR seq <= claim_seq`,

  'session-overlap': `
    SELECT 'session ' || session_key || ': ' || id || ' was still live when ' || next || ' was claimed' FROM (
      SELECT session_key, id, settlement.seq AS ended, lead(id) OVER later AS next, lead(claim_seq) OVER later AS claimed
      FROM attempt LEFT JOIN settlement ON attempt_id = id WHERE session_key IS NOT NULL
      WINDOW later AS (PARTITION BY session_key ORDER BY claim_seq))
    WHERE next IS NOT NULL AND (ended IS NULL OR ended >= claimed)`,

  'attempt-numbers': `
    SELECT 'task ' || run_id || ' ' || task_id || ' has the attempts ' || group_concat(number, ', ' ORDER BY place)
    FROM (SELECT *, row_number() OVER (PARTITION BY run_id, task_id ORDER BY claim_seq) AS place FROM attempt)
    GROUP BY run_id, task_id HAVING sum(number <> place) > 0`,

  /** Each turn is judged by the caps at its claim. Checks and turns whose agent never ran count for no cap. */
  'cap-exceeded': `
    WITH turn AS (
      SELECT id, run_id, claim_seq, settlement.seq AS ended, failure, input_tokens + output_tokens AS tokens, cost_micro_usd AS micros
      FROM attempt LEFT JOIN settlement ON settlement.attempt_id = id LEFT JOIN usage ON usage.attempt_id = id
      WHERE kind = 'turn'),
    change AS (
      SELECT id, run_id, claim_seq AS seq, 1 AS turns, 0 AS tokens, 0 AS micros FROM turn
      UNION ALL SELECT NULL, run_id, ended, -(failure IS 'never-started'), tokens, micros FROM turn WHERE ended IS NOT NULL),
    used AS (
      SELECT id, run_id, seq, sum(turns) OVER before AS turns, sum(tokens) OVER before AS tokens, sum(micros) OVER before / 1e6 AS usd
      FROM change WINDOW before AS (PARTITION BY run_id ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
    step AS (
      SELECT run.key AS run_id, step.value ->> 'since' AS since, step.value -> 'limits' AS limits
      FROM json_each(@caps) AS run, json_each(run.value) AS step)
    SELECT 'attempt ' || used.id || ' was claimed with ' || spent || ' of ' || most || ' ' || cap || ' used' FROM (
      SELECT used.id, cap.key AS cap, cap.value AS most,
        CASE cap.key WHEN 'turns' THEN turns WHEN 'tokens' THEN tokens WHEN 'usd' THEN usd END AS spent
      FROM used, json_each((
        SELECT limits FROM step WHERE step.run_id = used.run_id AND since < used.seq ORDER BY since DESC LIMIT 1)) AS cap
      WHERE used.id IS NOT NULL) AS used
    WHERE is_reached(cap, spent, most)`,

  'usage-without-settlement': `
    SELECT 'attempt ' || attempt_id || ' has ' || iif(settlement.seq IS NULL, 'usage but no settlement', 'no usage row')
    FROM settlement FULL JOIN usage USING (attempt_id) WHERE settlement.seq IS NULL OR usage.rowid IS NULL`,

  /** A late result differs from the one that counted, came after it, and is on record once. */
  'late-applied': `
    SELECT 'late result ' || late.seq || ' of attempt ' || attempt_id
    FROM (SELECT *, row_number() OVER (PARTITION BY attempt_id, digest ORDER BY seq) AS times FROM late_result) AS late
    LEFT JOIN settlement USING (attempt_id)
    WHERE settlement.seq IS NULL OR settlement.digest = late.digest OR settlement.seq >= late.seq OR times > 1`,

  'observed-twice': `
    SELECT type || ' of attempt ' || coalesce(data ->> 'attemptId', '?') || ': events ' || group_concat(seq, ', ' ORDER BY seq)
    FROM event WHERE cause IS NULL AND type IN (SELECT type FROM observation)
    GROUP BY type, data ->> 'attemptId' HAVING count(*) > 1`,

  /** A settlement, its event and its usage agree. */
  'settlement-differs': `
    SELECT iif(event.data ->> 'outcome' IS NULL, 'event ' || settlement.seq || ' is not a settlement',
      'settlement ' || settlement.attempt_id || ' differs from event ' || settlement.seq)
    FROM settlement LEFT JOIN event ON event.seq = settlement.seq LEFT JOIN usage USING (attempt_id)
    WHERE event.data ->> 'outcome' IS NOT outcome OR event.data ->> 'failure' IS NOT failure
      OR usage.rowid IS NOT NULL AND (cost_micro_usd IS NOT ${MICRO_USD("event.data ->> '$.usage.costUsd'")} OR input_tokens + output_tokens
        IS NOT (event.data ->> '$.usage.inputTokens') + (event.data ->> '$.usage.outputTokens'))`,
};
