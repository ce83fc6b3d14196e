import type { TurnIsolation } from '../substrate/ports/processes.ts';
import type { DoctorCheck } from './render/doctor-report.ts';

/** Says whether a process can outlive its turn on this machine. It never prevents a run. Pure. */
export function decideIsolationCheck(isolation: TurnIsolation): DoctorCheck {
  const check = { name: 'turns', ok: true, problems: [] };
  switch (isolation.type) {
    case 'pid-namespace':
      return { ...check, found: 'each turn and command in a PID namespace of its own, which ends with it' };
    case 'user-namespace':
      return { ...check, found: 'each turn in a PID namespace of its own, which ends with it; commands without one' };
    case 'none':
      return {
        ...check,
        found: 'no PID namespace for them',
        problems: [
          {
            text: `a process can outlive its turn if it sheds its environment, its session and its parents (${isolation.why})`,
            next: 'Install util-linux 2.38, and allow user namespaces here or run squad as root in a container that may make namespaces.',
          },
        ],
      };
  }
}
