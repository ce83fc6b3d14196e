import { z } from 'zod';
import type { AnswerForm } from '../../model/plan.ts';
import { missingIn } from '../../text/missing-in.ts';
import { answerSchema } from '../shared/tasks.ts';

export const TEST_REPORT = 'test-report';

const testReportSchema = z.object({ passed: z.boolean(), summary: z.string(), failures: z.array(z.string()) });

/** A failed test, or one that names a failure, is a rejection. */
export const TEST_FORM: AnswerForm = {
  schema: answerSchema(testReportSchema),
  read: (_, answer) => {
    const report = testReportSchema.safeParse(answer).data;
    if (report === undefined)
      return { verdict: { approved: false, summary: 'the tester gave no report', findings: [] } };
    const { passed, summary, failures } = report;
    const approved = passed && missingIn(failures).length === 0;
    const findings = approved ? [] : failures.map((problem) => ({ file: null, line: null, problem, suggestion: null }));
    return { verdict: { approved, summary, findings } };
  },
};
