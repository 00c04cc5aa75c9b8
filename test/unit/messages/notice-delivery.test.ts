import { describe, expect, it } from 'vitest';
import { noticeDelivery } from '../../../lambdas/messages/notice-delivery.ts';
import { testPlan } from '../../../local/testing/index.ts';

const payload = { caseId: 'CASE-123', recipient: 'applicant', template: 'decision' };
const envelope = { aggregateType: 'notice', aggregateId: 'N-1' };

describe('NoticeDeliveryRequested', () => {
  it('has the notice delivered by an effect that is neither cached nor replaced', async () => {
    const plan = await testPlan(noticeDelivery, { payload, envelope });

    expect(plan.effects).toEqual([
      { name: 'deliver', provider: 'Notices', operation: 'deliver', request: payload },
    ]);
  });

  it('keeps the reference, be it the provider’s or what a person found', async () => {
    const plan = await testPlan(noticeDelivery, {
      payload,
      envelope,
      effects: { deliver: { reference: 'post-77' } },
    });

    expect(plan.set).toMatchObject({ noticeStatus: 'DELIVERED', noticeReference: 'post-77' });
    expect(plan.resultRef).toBe('notice/N-1/delivery/post-77');
  });
});
