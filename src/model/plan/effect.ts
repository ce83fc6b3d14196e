import type { PlanChange } from './change.ts';
import type { LockOutKind } from './lock-out.ts';

/** The ledger's work for a step besides storing its entries. Everything else follows from the board. */
export type PlanEffect =
  /** Ids that begin with `engine/` are the engine's own. */
  | { readonly effect: 'set-timer'; readonly id: string; readonly at: number }
  | { readonly effect: 'send'; readonly message: Extract<PlanChange, { do: 'send' }> };

/** The changes that a step of one task makes on the board besides the task. */
export type WorkEffect =
  /** Only a person can help; tasks with the same problem share the question. */
  | { readonly effect: 'ask'; readonly id: string; readonly text: string; readonly options: readonly string[] }
  /** The account does not work until a person helps. */
  | {
      readonly effect: 'lock-out';
      readonly account: string;
      readonly agent: string;
      readonly kind: LockOutKind;
      readonly why: string;
    }
  /** The account has reached its usage limit. */
  | { readonly effect: 'limit-account'; readonly account: string; readonly until: number }
  | { readonly effect: 'set-timer'; readonly id: string; readonly at: number };
