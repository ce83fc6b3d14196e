import type { OpenQuestion } from './open-questions.ts';

/** An agent waits in the middle of its turn for a person to allow a tool. */
export interface PermissionAsk {
  /** `<attempt>/ask-<n>` */
  readonly id: string;
  readonly attempt: string;
  readonly n: number;
  readonly agent: string;
  readonly text: string;
  /** Epoch ms at which it counts as rejected. */
  readonly until: number;
}

export const PERMISSION_OPTIONS = ['yes', 'no'] as const;

export function questionOf({ id, text }: PermissionAsk): OpenQuestion {
  return { id, text, options: PERMISSION_OPTIONS, freeText: false, recorded: null };
}
