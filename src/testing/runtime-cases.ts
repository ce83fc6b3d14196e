import { FAILURE_CASES } from './cases/failure-cases.ts';
import { LIFE_CASES } from './cases/life-cases.ts';
import { SAFETY_CASES } from './cases/safety-cases.ts';
import { SESSION_CASES } from './cases/session-cases.ts';
import { WORK_CASES } from './cases/work-cases.ts';
import type { RuntimeCase } from './runtime-stage.ts';

/** Every promise of the port. One call runs all; leaving one out needs its title and a reason. */
export const CASES: readonly RuntimeCase[] = [
  ...WORK_CASES,
  ...SESSION_CASES,
  ...LIFE_CASES,
  ...FAILURE_CASES,
  ...SAFETY_CASES,
];
