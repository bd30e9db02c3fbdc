import { findManifest } from '../catalog/keep-release.ts';
import { refuse } from '../catalog/problems.ts';
import { versionKind } from '../catalog/version-kind.ts';
import { task } from '../platform/workflow/task.ts';
import { stepOf } from '../promotion/run-step.ts';
import { recordLint } from '../promotion/promotion-steps.ts';
import { keepPromotion } from '../promotion/keep-promotion.ts';
import { lintManifest, type Manifest } from './manifest.ts';

/** The first gate. Its problems are stored on the promotion, where the app team reads them. */
export const handler = task(stepOf(versionKind), async (ctx, { subject, operation_id }) => {
  const problems = lintManifest((await findManifest(subject)) as Manifest);
  await keepPromotion(subject, (promotion) =>
    promotion.operation_id === operation_id && promotion.step === 'checking'
      ? recordLint(promotion, problems, ctx.now())
      : undefined,
  );
  if (problems.length === 0) return;
  const [first] = problems;
  throw refuse('manifest.invalid', {
    detail: `${problems.length === 1 ? 'One problem' : `${problems.length} problems`}, first at “${first?.pointer}”: ${first?.detail}`,
  });
});
