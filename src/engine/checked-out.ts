import type { Workspaces } from '../substrate/ports/workspaces.ts';

/**
 * Warns the person once if the run branch is checked out: its files stay while the branch moves. `resumed`: looks at once, because the
 * branch may have been checked out while no engine was running.
 */
export function watchCheckout(
  workspaces: Workspaces,
  { run, resumed, warn }: { run: string; resumed: boolean; warn: (text: string) => void },
): Workspaces {
  let warned = false;
  // No delivery waits for it.
  let looking: Promise<void> = Promise.resolve();
  const look = async (before: string | undefined): Promise<void> => {
    const path = warned || before === undefined ? undefined : await workspaces.checkoutOf(run);
    if (path === undefined || before === undefined) return;
    warned = true;
    warn(checkedOutWarning({ run, path, before }));
  };
  const lookNext = (before: () => Promise<string | undefined>): void => {
    // A git that fails here fails at the next delivery too, and is reported then.
    looking = looking.then(async () => look(await before())).catch(() => undefined);
  };
  if (resumed) lookNext(async () => workspaces.runHead(run));
  return {
    ...workspaces,
    advance: async (of, from, to) => {
      const answer = await workspaces.advance(of, from, to);
      if (answer.type === 'advanced' && from !== to) lookNext(() => Promise.resolve(from));
      return answer;
    },
    close: async () => {
      await looking;
      await workspaces.close();
    },
  };
}

/** `before`: the commit that the files there are at. The command changes no file, and works before and after a delivery. */
function checkedOutWarning({ run, path, before }: { run: string; path: string; before: string }): string {
  const next = `git -C ${JSON.stringify(path)} switch --detach ${before.slice(0, 12)}`;
  const then = `git switch squad/${run}`;
  return `squad/${run} is checked out in ${path}. squad moves the branch but never your files, so git there shows delivered work as undone. Run \`${next}\`, which leaves the branch and keeps your changes; \`${then}\` later gets the new files`;
}
