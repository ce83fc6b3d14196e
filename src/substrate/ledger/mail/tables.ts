/** The tables of messages, in SQL. */
export const MAIL_TABLES = `
-- One row: the workspace's, for ever.
CREATE TABLE mail_session (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  seal BLOB
) STRICT;

CREATE TABLE mail_policy (
  run_id TEXT PRIMARY KEY REFERENCES run (id),
  policy TEXT NOT NULL CHECK (json_valid(policy)),
  at INTEGER NOT NULL,
  seal BLOB
) STRICT;

-- party and sent_key: who sent it, and its own name for it. held: the turn at whose end it takes effect. digest: of a body
-- that is in a file.
CREATE TABLE mail (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES run (id),
  epoch INTEGER NOT NULL,
  event_seq INTEGER NOT NULL UNIQUE REFERENCES event (seq),
  party TEXT NOT NULL,
  sent_key TEXT,
  held TEXT REFERENCES attempt (id),
  agent_instance TEXT NOT NULL,
  sender TEXT NOT NULL,
  recipients TEXT NOT NULL CHECK (json_array_length(recipients) > 0),
  type TEXT NOT NULL CHECK (type IN ('ask', 'report', 'send', 'done', 'fail')),
  action TEXT,
  task_id TEXT,
  owner TEXT,
  deadline INTEGER,
  corr TEXT REFERENCES mail (id),
  ttl_ms INTEGER NOT NULL CHECK (ttl_ms > 0),
  ts INTEGER NOT NULL,
  body_encoding TEXT NOT NULL CHECK (body_encoding IN ('json', 'base64')),
  body TEXT NOT NULL,
  body_ref TEXT,
  digest TEXT CHECK ((digest IS NULL) = (body_ref IS NULL)),
  seal BLOB
) STRICT;
CREATE UNIQUE INDEX mail_by_key ON mail (run_id, party, sent_key) WHERE sent_key IS NOT NULL;
CREATE INDEX mail_by_party ON mail (party, seq);
CREATE INDEX mail_by_run ON mail (run_id, seq);
CREATE INDEX mail_by_corr ON mail (corr) WHERE corr IS NOT NULL;
CREATE INDEX mail_by_holder ON mail (held) WHERE held IS NOT NULL;
CREATE TRIGGER mail_time_goes_on BEFORE INSERT ON mail
  WHEN NEW.ts < (SELECT ts FROM mail ORDER BY seq DESC LIMIT 1)
  BEGIN SELECT raise(ABORT, 'the time of messages never goes back'); END;

-- One message on its way to one recipient. held: 1 until its turn has ended. handed_to: the turn whose prompt holds it.
-- phase and due: of the ack clock, in ms that the recipient could receive; null: it stands still. answer_due: as people see
-- it; answer_at: when the clock of the answer has something to do next.
CREATE TABLE mail_delivery (
  mail_seq INTEGER NOT NULL REFERENCES mail (seq),
  recipient TEXT NOT NULL,
  run_id TEXT NOT NULL REFERENCES run (id),
  sender TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'accepted', 'dead', 'void')),
  held INTEGER NOT NULL CHECK (held IN (0, 1)),
  leased_by TEXT CHECK ((leased_by IS NOT NULL) = (state = 'leased')),
  leased_until INTEGER,
  handed_to TEXT REFERENCES attempt (id),
  retries INTEGER NOT NULL DEFAULT 0 CHECK (retries >= 0),
  phase TEXT NOT NULL DEFAULT 'ack' CHECK (phase IN ('ack', 'backoff')),
  due INTEGER,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER CHECK ((accepted_at IS NOT NULL) = (state = 'accepted')),
  is_ask INTEGER NOT NULL CHECK (is_ask IN (0, 1)),
  answer_due INTEGER,
  answer_at INTEGER,
  answer TEXT CHECK (answer IS NULL OR is_ask = 1),
  last_error TEXT,
  seal BLOB,
  PRIMARY KEY (mail_seq, recipient)
) STRICT;
CREATE INDEX mail_delivery_unread ON mail_delivery (run_id, recipient, mail_seq) WHERE state IN ('waiting', 'leased');
CREATE INDEX mail_delivery_dead ON mail_delivery (run_id, mail_seq) WHERE state = 'dead';
CREATE INDEX mail_delivery_by_lease ON mail_delivery (leased_by) WHERE leased_by IS NOT NULL;
CREATE INDEX mail_delivery_leased ON mail_delivery (run_id, recipient, sender, mail_seq) WHERE state = 'leased';
CREATE INDEX mail_delivery_due ON mail_delivery (run_id, recipient, due) WHERE due IS NOT NULL;
CREATE INDEX mail_delivery_expiry ON mail_delivery (run_id, expires_at) WHERE state IN ('waiting', 'leased') AND held = 0;
CREATE INDEX mail_delivery_answer ON mail_delivery (run_id, answer_at) WHERE answer_at IS NOT NULL;
CREATE INDEX mail_delivery_open_ask ON mail_delivery (run_id, mail_seq) WHERE is_ask = 1 AND answer IS NULL AND state <> 'void';

-- Only the hash of a secret. A turn's dies with its attempt, or when ended_at is set.
CREATE TABLE mail_token (
  hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
  run_id TEXT NOT NULL REFERENCES run (id),
  address TEXT NOT NULL,
  attempt_id TEXT REFERENCES attempt (id),
  instance TEXT CHECK ((instance IS NULL) = (attempt_id IS NOT NULL)),
  issued_at INTEGER NOT NULL,
  ended_at INTEGER,
  seal BLOB
) STRICT;
CREATE UNIQUE INDEX mail_token_of_attempt ON mail_token (attempt_id) WHERE ended_at IS NULL AND attempt_id IS NOT NULL;
CREATE UNIQUE INDEX mail_token_of_pane ON mail_token (run_id, address) WHERE ended_at IS NULL AND attempt_id IS NULL;

-- Who can receive, and for how many ms in all so far: counted up to counted_at, going on until the later of the two moments.
CREATE TABLE mail_receiver (
  run_id TEXT NOT NULL REFERENCES run (id),
  address TEXT NOT NULL,
  able INTEGER NOT NULL CHECK (able IN (0, 1)),
  able_until INTEGER NOT NULL,
  beat_until INTEGER NOT NULL,
  received_ms INTEGER NOT NULL CHECK (received_ms >= 0),
  counted_at INTEGER NOT NULL,
  seal BLOB,
  PRIMARY KEY (run_id, address)
) STRICT;

-- mail_seq: the message that assigned it, where one did.
CREATE TABLE mail_task (
  run_id TEXT NOT NULL REFERENCES run (id),
  id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'verify_pending', 'verified', 'done', 'failed')),
  owner TEXT,
  deadline INTEGER,
  retries INTEGER NOT NULL DEFAULT 0 CHECK (retries >= 0),
  mail_seq INTEGER REFERENCES mail (seq),
  last_update_seq INTEGER NOT NULL REFERENCES mail (seq),
  seal BLOB,
  PRIMARY KEY (run_id, id)
) STRICT;
CREATE INDEX mail_task_by_deadline ON mail_task (run_id, deadline) WHERE status = 'open' AND deadline IS NOT NULL;

CREATE INDEX event_mail_refused ON event (stream) WHERE type = 'mail-refused';
`;
