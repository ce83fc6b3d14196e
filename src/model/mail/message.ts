import type { MailAction, MailType } from './vocabulary.ts';

/** What a sender may write. Everything else of a message the router makes itself, from what it knows of the sender. */
export interface MailDraft {
  readonly v?: string;
  /** Only as a check: another session or an older epoch than the present one is refused. */
  readonly session?: string;
  readonly epoch?: number;
  readonly to: readonly string[];
  readonly type: MailType;
  readonly action?: MailAction;
  readonly task_id?: string;
  readonly owner?: string;
  /** Epoch ms. */
  readonly deadline?: number;
  readonly corr?: string;
  readonly ttl_ms?: number;
  readonly body_encoding?: 'json' | 'base64';
  /** One line. */
  readonly body: string;
}

/** A message as it is kept and as readers get it: the protocol's envelope, version 1. */
export interface MailMessage {
  readonly v: '1';
  readonly session: string;
  readonly epoch: number;
  readonly seq: number;
  /** `<session>-<epoch>-<seq>` */
  readonly id: string;
  /** Which turn, pane or person it was: for people; no authority. */
  readonly agent_instance: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly type: MailType;
  readonly action?: MailAction;
  readonly task_id?: string;
  readonly owner?: string;
  readonly deadline?: number;
  readonly corr?: string;
  readonly ttl_ms: number;
  /** Epoch ms. */
  readonly ts: number;
  readonly body_encoding: 'json' | 'base64';
  /** One line; empty where `body_ref` says where it is. */
  readonly body: string;
  /** Path of the body in a file, from the workspace's `.squad`; bodies over 4 KiB. */
  readonly body_ref?: string;
}
