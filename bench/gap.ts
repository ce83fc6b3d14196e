import { startRun } from '../src/engine.ts';
import { preflight } from '../src/preflight/preflight.ts';
import { timeGit } from './shared/git-times.ts';
import { median, rowOf, type Bench } from './shared/row.ts';
import { attemptsOf, openScriptedRoom, type Piece } from './shared/scripted-room.ts';

const STEPS = 10;

/**
 * What passes between the end of one piece and the start of the next in a chain: evidence, integration, delivery and the
 * next worktree. git's own part is every stretch in which a git that the engine called was under way.
 */
export const gap: Bench = {
  name: 'gap',
  run: async (folder) => {
    const names = Array.from({ length: STEPS }, (_, index) => `step-${index + 1}`);
    const pieces = names.map((id, index): Piece => ({ id, needs: names.slice(Math.max(0, index - 1), index) }));
    const room = await openScriptedRoom(folder, { pieces, turnMs: 100, parallel: 6 });
    const git = timeGit(room.machine.processes);
    const host = { ...room.machine.host, workingDirectory: room.repository };
    const ports = { ...room.machine, host, git: { ...room.machine.git, processes: git.processes } };
    const { definition, repository } = await preflight(
      { ...ports, takenNames: () => [] },
      { objectivePath: 'objective.md', limits: {}, yes: true },
    );
    const running = await startRun(ports, definition, repository);
    const end = await running.done;
    if (end.outcome !== 'done') throw new Error(`the run is ${end.outcome}: ${end.why}`);
    const events = room.events();
    const spawned = new Map(attemptsOf(events, 'attempt-spawned').map(({ task, at }) => [task, at]));
    const settled = new Map(attemptsOf(events, 'attempt-settled').map(({ task, at }) => [task, at]));
    const gaps = names.slice(1).map((id, index) => {
      const from = settled.get(names[index] ?? '') ?? NaN;
      const to = spawned.get(id) ?? NaN;
      return { whole: to - from, ...git.within(from, to) };
    });
    const beyond = median(gaps.map(({ whole, ms }) => whole - ms));
    const bare = median(gaps.map(({ ms }) => ms));
    const calls = median(gaps.map((one) => one.calls));
    return [
      rowOf('settlement to next spawn beyond git’s time, p50, beside git’s time', 'ms', beyond, bare, {
        target: { of: 'squad', most: 15 },
        note: `${calls} calls of git in each gap; p50 of the whole gap ${median(gaps.map(({ whole }) => whole))} ms`,
      }),
    ];
  },
};
