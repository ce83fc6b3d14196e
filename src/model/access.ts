import { z } from 'zod';
import { SquadError } from './errors.ts';

/**
 * What a turn may touch. `edit`: the workspace, plus what a commit in a detached worktree needs, and nothing else.
 * `full`: no checks; only inside a container or machine that the host controls.
 */
export const accessSchema = z.discriminatedUnion('level', [
  z.object({ level: z.literal('read-only') }),
  z.object({
    level: z.literal('edit'),
    /** More writable folders, absolute. */
    writable: z.array(z.string()).optional(),
    network: z.boolean().optional(),
  }),
  z.object({ level: z.literal('full') }),
]);
export type Access = z.infer<typeof accessSchema>;

/** Bar S14: nothing stands between such an agent and the machine. */
export function refuseFullAsRoot(access: Access, isRoot: boolean, instead: string): void {
  if (access.level !== 'full' || !isRoot) return;
  throw new SquadError({
    code: 'wrong-environment',
    message: 'access `full` confines nothing, and squad runs as root',
    next: `${instead}, or run squad as another user in a container of its own.`,
  });
}
