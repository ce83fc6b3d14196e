import { capsOfRuns, checkPlans } from '../view/plan-rules.ts';
import { checkDatabase, type DatabaseCheck } from '../substrate/ledger/index.ts';

/** Everything that can be judged of a ledger's file without its processes: the file, its history, and every run's plan. */
export function checkLedger(path: string): DatabaseCheck {
  return checkDatabase(path, { capsOf: capsOfRuns, judge: checkPlans });
}
