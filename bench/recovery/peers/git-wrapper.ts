// A `git` on the PATH of the tools. Armed, it halts in the middle of a merge: the merged files are in the checkout, and no commit or
// branch has them yet. `git merge` is stopped by `--no-commit`; squad writes a checkout by `git read-tree -m -u`.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function installGitWrapper(bin: string): void {
  const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeFileSync(join(bin, 'git'), scriptOf(bin, real), { mode: 0o755 });
}

/** 0: it merges as git does. */
export function holdMerge(bin: string, merge: number): void {
  rmSync(join(bin, 'merges'), { force: true });
  rmSync(join(bin, 'held'), { force: true });
  if (merge === 0) rmSync(join(bin, 'armed'), { force: true });
  else writeFileSync(join(bin, 'armed'), `${merge}`);
}

export function isHeld(bin: string): boolean {
  return existsSync(join(bin, 'held'));
}

function scriptOf(bin: string, real: string): string {
  return `#!/bin/sh
[ -e '${bin}/armed' ] || exec '${real}' "$@"
more=
case " $* " in
  *' merge --abort '*) exec '${real}' "$@" ;;
  *' merge '*) more=--no-commit ;;
  *' read-tree -m -u '*) ;;
  *) exec '${real}' "$@" ;;
esac
echo merge >> '${bin}/merges'
[ "$(grep -c merge '${bin}/merges')" = "$(cat '${bin}/armed')" ] || exec '${real}' "$@"
'${real}' "$@" $more
touch '${bin}/held'
while :; do sleep 1; done
`;
}
