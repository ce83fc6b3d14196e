import type { PlanChange } from './change.ts';
import type { Requirement } from './task.ts';

/** What the graph has to do about a decision. Data; nothing here has happened yet. Attempts are started by the frontier. */
export type PlanEffect =
  | { readonly effect: 'cancel-attempt'; readonly attempt: string; readonly why: string }
  /** Answered with `evidence-gathered`. */
  | { readonly effect: 'gather-evidence'; readonly task: string; readonly requires: readonly Requirement[] }
  /** Answered with `integrated` or `conflict`. */
  | { readonly effect: 'integrate'; readonly task: string; readonly commit: string }
  /** Answered with `verified`. */
  | { readonly effect: 'verify'; readonly task: string; readonly candidate: string }
  /** By compare-and-swap; answered with `branch-advanced`, `branch-foreign` or `branch-held`. */
  | { readonly effect: 'advance-branch'; readonly task: string; readonly candidate: string }
  /** An account that needs a person: nothing starts on it, and stand-ins take over for its agents. */
  | {
      readonly effect: 'lock-out';
      readonly account: string;
      readonly agent: string;
      readonly kind: 'auth' | 'billing';
      readonly why: string;
    }
  | { readonly effect: 'ask'; readonly id: string; readonly text: string; readonly options: readonly string[] }
  /** Ids that begin with `engine/` are the engine's own. */
  | { readonly effect: 'set-timer'; readonly id: string; readonly at: number }
  | { readonly effect: 'clear-timer'; readonly id: string }
  | { readonly effect: 'send'; readonly message: Extract<PlanChange, { do: 'send' }> }
  | { readonly effect: 'put'; readonly change: Extract<PlanChange, { do: 'put' }> };
