import type { Json } from '../../text/json.ts';

/** Something that outlives runs: its newest value, and the event that says so. */
export interface LedgerRecord {
  readonly kind: string;
  /** Unique in its kind. */
  readonly id: string;
  /** 1 for the first value. */
  readonly version: number;
  readonly value: Json;
  readonly seq: number;
}

export interface NewRecord extends Pick<LedgerRecord, 'kind' | 'id' | 'value'> {
  /** Written only if this is the record's version by now; 0: if there is none yet. Absent: in any case. */
  readonly after?: number | undefined;
}

/** The things that outlive runs. Their values have to be free of secrets. */
export interface Records {
  /** With its event in the stream `workspace`. undefined: another one was faster, and nothing was written. */
  writeRecord(record: NewRecord): LedgerRecord | undefined;
  record(kind: string, id: string): LedgerRecord | undefined;
  /** In the order in which they were first written. */
  records(kind: string): readonly LedgerRecord[];
}
