import type { Database } from 'better-sqlite3';
import { MAIL_TABLES } from './mail/tables.ts';
import { sealByTrigger } from './row-digest.ts';

/** The number of these tables. It grows with each change to them: a file of another number is refused. */
export const SCHEMA = 8;

const TABLES = `
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  stream TEXT NOT NULL CHECK (stream <> ''),
  type TEXT NOT NULL CHECK (type <> ''),
  at INTEGER NOT NULL,
  cause INTEGER REFERENCES event (seq) CHECK (cause < seq),
  epoch INTEGER,
  data TEXT NOT NULL CHECK (json_valid(data)),
  seal BLOB
) STRICT;
CREATE INDEX event_by_stream ON event (stream, seq);

CREATE TABLE run (
  id TEXT PRIMARY KEY CHECK (id NOT IN ('', 'workspace')),
  name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  applied INTEGER NOT NULL DEFAULT 0,
  driver TEXT,
  parent_run TEXT REFERENCES run (id),
  parent_seq INTEGER CHECK ((parent_run IS NULL) = (parent_seq IS NULL)),
  seal BLOB
) STRICT;

-- One row a step of a run. Keyed so that no cursor is left twice and no input is decided on twice.
CREATE TABLE application (
  run_id TEXT NOT NULL REFERENCES run (id),
  cursor INTEGER NOT NULL,
  seq INTEGER NOT NULL REFERENCES event (seq) CHECK (seq >= cursor),
  driver TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  at INTEGER NOT NULL,
  answer TEXT NOT NULL CHECK (json_valid(answer)),
  seal BLOB,
  PRIMARY KEY (run_id, cursor, seq)
) STRICT;
CREATE UNIQUE INDEX application_advances_once ON application (run_id, cursor) WHERE seq > cursor;

-- One row a segment of a run: who drove it, and from when to when.
CREATE TABLE lease (
  run_id TEXT NOT NULL REFERENCES run (id),
  epoch INTEGER NOT NULL CHECK (epoch > 0),
  holder TEXT NOT NULL,
  acquired_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  released_at INTEGER,
  seen_boot TEXT,
  seen_ms INTEGER CHECK ((seen_ms IS NULL) = (seen_boot IS NULL)),
  seal BLOB,
  PRIMARY KEY (run_id, epoch)
) STRICT;

CREATE TABLE attempt (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  run_id TEXT NOT NULL REFERENCES run (id),
  task_id TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number > 0),
  kind TEXT NOT NULL CHECK (kind IN ('turn', 'check')),
  agent TEXT NOT NULL,
  runtime TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  session_key TEXT,
  request TEXT NOT NULL,
  claim_seq INTEGER NOT NULL UNIQUE REFERENCES event (seq),
  claimed_at INTEGER NOT NULL,
  process TEXT,
  spawned_at INTEGER,
  status TEXT NOT NULL CHECK (status IN ('claimed', 'spawned', 'settled')),
  seal BLOB,
  UNIQUE (run_id, task_id, number)
) STRICT;
CREATE INDEX attempt_by_status ON attempt (run_id, status);
CREATE UNIQUE INDEX attempt_live_by_session ON attempt (session_key) WHERE status <> 'settled' AND session_key IS NOT NULL;

CREATE TABLE settlement (
  attempt_id TEXT PRIMARY KEY REFERENCES attempt (id),
  seq INTEGER NOT NULL UNIQUE REFERENCES event (seq),
  at INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  failure TEXT,
  result TEXT NOT NULL,
  digest TEXT NOT NULL,
  seal BLOB
) STRICT;

-- NULL is unknown, which is never zero.
CREATE TABLE usage (
  attempt_id TEXT PRIMARY KEY REFERENCES settlement (attempt_id),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  cost_micro_usd INTEGER,
  seal BLOB
) STRICT;

CREATE TABLE late_result (
  attempt_id TEXT NOT NULL REFERENCES settlement (attempt_id),
  digest TEXT NOT NULL,
  seq INTEGER NOT NULL UNIQUE REFERENCES event (seq),
  seal BLOB,
  PRIMARY KEY (attempt_id, digest)
) STRICT;

CREATE TABLE observation (
  attempt_id TEXT NOT NULL REFERENCES attempt (id),
  type TEXT NOT NULL,
  seq INTEGER NOT NULL UNIQUE REFERENCES event (seq),
  seal BLOB,
  PRIMARY KEY (attempt_id, type)
) STRICT;

CREATE TABLE timer (
  run_id TEXT NOT NULL REFERENCES run (id),
  id TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  set_seq INTEGER NOT NULL REFERENCES event (seq),
  data TEXT NOT NULL CHECK (json_valid(data)),
  seal BLOB,
  PRIMARY KEY (run_id, id)
) STRICT;
CREATE INDEX timer_by_due ON timer (due_at);

CREATE TABLE operator_command (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES run (id),
  seq INTEGER NOT NULL UNIQUE REFERENCES event (seq),
  verb TEXT NOT NULL,
  data TEXT NOT NULL CHECK (json_valid(data)),
  operator TEXT NOT NULL,
  at INTEGER NOT NULL,
  seal BLOB
) STRICT;

-- Things that outlive runs, as their newest event says.
CREATE TABLE record (
  kind TEXT NOT NULL CHECK (kind <> ''),
  id TEXT NOT NULL CHECK (id <> ''),
  version INTEGER NOT NULL CHECK (version > 0),
  value TEXT NOT NULL CHECK (json_valid(value)),
  seq INTEGER NOT NULL UNIQUE REFERENCES event (seq),
  seal BLOB,
  PRIMARY KEY (kind, id)
) STRICT;
`;

/** The writers seal the other rows. */
const SEALED_BY_TRIGGER = [
  ...[
    'run',
    'application',
    'lease',
    'settlement',
    'usage',
    'late_result',
    'observation',
    'timer',
    'operator_command',
    'record',
  ],
  ...['mail_session', 'mail_policy', 'mail_delivery', 'mail_token', 'mail_receiver', 'mail_task'],
];

/** Keys and unique indexes enforce what may happen once, and triggers the order of events and messages. */
export function makeTables(db: Database): void {
  db.exec(TABLES);
  db.exec(MAIL_TABLES);
  appendOnly(db, 'event', 'an event', 'events');
  appendOnly(db, 'mail', 'a message', 'messages');
  sealByTrigger(db, SEALED_BY_TRIGGER);
}

function appendOnly(db: Database, table: string, one: string, many: string): void {
  db.exec(`CREATE TRIGGER ${table}_never_changes BEFORE UPDATE ON ${table}
  BEGIN SELECT raise(ABORT, '${one} never changes'); END;
CREATE TRIGGER ${table}_never_goes BEFORE DELETE ON ${table}
  BEGIN SELECT raise(ABORT, '${one} never goes'); END;
CREATE TRIGGER ${table}_without_gap BEFORE INSERT ON ${table}
  WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM ${table})
  BEGIN SELECT raise(ABORT, '${many} have no gaps'); END;`);
}
