import { task } from '../platform/workflow/task.ts';
import { lintManifest, type Manifest } from './manifest.ts';
import { VersionStep } from '../promotion/promotion.ts';
import { recordLint } from '../promotion/promotion-steps.ts';
import { findManifest, keepPromotion } from '../promotion/promotion-store.ts';
import { refuse } from './problems.ts';

/** The first gate. What it finds is kept on the promotion, where whoever has to mend it will look. */
export const handler = task(VersionStep, async (ctx, { subject, operation_id }) => {
  const manifest = await findManifest(subject);
  const problems = lintManifest(manifest as Manifest);
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
