import { z } from 'zod';
import { SquadError } from './errors.ts';

/** `edit`: the workspace and the repository in it. `full`: no checks, for a container of its own. */
export const accessSchema = z.discriminatedUnion('level', [
  z.object({
    level: z.literal('read-only'),
    /** Where the machine confines it, it may write in its workspace, of which nothing is kept: who tests has to build. */
    builds: z.literal(true).optional(),
  }),
  z.object({
    level: z.literal('edit'),
    /** More writable folders, absolute. */
    writable: z.array(z.string()).optional(),
    network: z.boolean().optional(),
  }),
  z.object({ level: z.literal('full') }),
]);
export type Access = z.infer<typeof accessSchema>;

export function hasNetwork(access: Access): boolean {
  return access.level === 'full' || (access.level === 'edit' && access.network === true);
}

/** The folders that an agent with this access may write besides its workspace. Full access needs no list. */
export function writableFolders(access: Access): readonly string[] {
  return access.level === 'edit' ? (access.writable ?? []) : [];
}

/** Whether a confined agent may write in its workspace, as `edit` may, although nothing of it is kept. */
export function buildsThere(access: Access): boolean {
  return access.level === 'read-only' && access.builds === true;
}

/** The warning at the start of a run and in its report; undefined if every agent is confined. */
export function fullAccessWarning(
  agents: readonly { readonly name: string; readonly access: Access }[],
): string | undefined {
  const names = agents.filter(({ access }) => access.level === 'full').map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `${names.join(', ')} can read, change and reach everything that you can: \`access: full\` confines nothing`;
}

/** A warning for agents with `access: edit` on a runtime with `allow-unconfined`; undefined: there are none. */
export function unconfinedWarning({
  agents,
  runtimes,
}: {
  readonly agents: readonly { readonly name: string; readonly runtime: string; readonly access: Access }[];
  readonly runtimes: Readonly<Record<string, { readonly config?: Readonly<Record<string, unknown>> | undefined }>>;
}): string | undefined {
  const isFree = (runtime: string): boolean => runtimes[runtime]?.config?.['allow-unconfined'] === true;
  const names = agents
    .filter(({ access, runtime }) => access.level === 'edit' && isFree(runtime))
    .map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `where bubblewrap does not work, ${names.join(', ')} can read, change and reach everything that you can: \`allow-unconfined\``;
}

/** Bar S14: full access needs the settings and, for each run, the consent of the person who starts it. */
export function refuseFullUnlessAllowed(access: Access, allowed: boolean, name: string): void {
  if (access.level !== 'full' || allowed) return;
  throw new SquadError({
    code: 'not-trusted',
    message: `${name} has \`access: full\`, which confines nothing, and this run does not allow it`,
    next: 'On a machine that holds nothing else, add `--allow-full-access`. Otherwise give it `access: edit`.',
  });
}

/** Bar S14: as root, such an agent could change the whole machine. */
export function refuseFullAsRoot(access: Access, isRoot: boolean, instead: string): void {
  if (access.level !== 'full' || !isRoot) return;
  throw new SquadError({
    code: 'wrong-environment',
    message: 'access `full` confines nothing, and squad runs as root',
    next: `${instead}, or run squad as another user in a container of its own.`,
  });
}
