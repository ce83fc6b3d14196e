import type { Access } from '../../model/access.ts';
import { assertNever } from '../../model/assert-never.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { findBubblewrap, inBubblewrap, type Bubblewrap } from './bubblewrap.ts';
import type { Cage } from './cage.ts';
import { refuse, type Refusal, type RuntimeSettings } from './cli-adapter.ts';
import type { Trial } from './cli-program.ts';
import { findSeatbelt, inSeatbelt, type Seatbelt } from './seatbelt.ts';

/** Confines an agent that has no sandbox of its own. */
export type Sandbox = Bubblewrap | Seatbelt;

/** The sandbox of this machine, or why there is none, and what a person can do about it. */
export type Confiner = Sandbox | { readonly kind: 'none'; readonly problem: string; readonly next: string };

/** The sandbox as this machine has it. Success is remembered; a failure may pass, so it is tried again. */
export function createConfiner(
  settings: Pick<RuntimeSettings, 'platform' | 'environment'>,
  trial: Trial,
): () => Promise<Confiner> {
  let found: Confiner | undefined;
  return async () => {
    if (found === undefined || found.kind === 'none') found = await findSandbox(settings, trial);
    return found;
  };
}

async function findSandbox(
  settings: Pick<RuntimeSettings, 'platform' | 'environment'>,
  trial: Trial,
): Promise<Confiner> {
  const orNone = (found: Sandbox | { readonly problem: string }, next: string): Confiner =>
    'problem' in found ? { kind: 'none', problem: found.problem, next } : found;
  switch (settings.platform) {
    case 'linux':
      return orNone(await findBubblewrap(settings, trial), 'install bubblewrap, and allow user namespaces');
    case 'darwin':
      return orNone(await findSeatbelt(trial), 'start squad outside of any other sandbox');
    default:
      return { kind: 'none', problem: 'squad has a sandbox on Linux and macOS only', next: 'run it there' };
  }
}

export function isCaged(confiner: Confiner | undefined): confiner is Sandbox {
  return confiner !== undefined && confiner.kind !== 'none';
}

/** `unconfined`: the settings allow `edit` without confinement. */
export function probedConfinement(
  name: string,
  confiner: Confiner,
  unconfined: boolean,
): { readonly level: Probe['sandbox']; readonly problem?: Probe['problems'][number] } {
  if (isCaged(confiner)) return { level: 'os' };
  const text = `nothing confines ${name} here: ${confiner.problem}`;
  return { level: unconfined ? 'rules' : 'none', problem: { text, next: confiner.next } };
}

/** The refusal of an agent that could write anywhere; undefined: it is confined, or may be without (`setting`). */
export function refuseUnconfined(
  name: string,
  { level }: Access,
  confiner: Confiner | undefined,
  { setting, isOn }: { readonly setting: string; readonly isOn: boolean },
): Refusal | undefined {
  if (level !== 'edit' || confiner === undefined || isCaged(confiner) || isOn) return undefined;
  const why = `nothing confines ${name} here (${confiner.problem})`;
  return refuse('sandbox-unavailable', 'access', `${why}: ${confiner.next}, or set ${setting}: true`);
}

/** The command in the cage. */
export function confined(
  sandbox: Sandbox,
  cage: Cage,
  program: string,
  args: readonly string[],
): { readonly binary: string; readonly args: string[] } {
  switch (sandbox.kind) {
    case 'bubblewrap':
      return inBubblewrap(sandbox, cage, program, args);
    case 'seatbelt':
      return inSeatbelt(sandbox, cage, program, args);
    default:
      return assertNever(sandbox);
  }
}
