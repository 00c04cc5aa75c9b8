import type { Dispatch } from './http.ts';
import { describeCall, type ServiceName } from './service-call.ts';

/**
 * Puts the embedded services behind one address: AWS JSON calls are told apart by `X-Amz-Target`, Lambda by
 * its path, and everything else is S3. A service that is not embedded answers 501 and says so.
 */
export function createServiceRouter(services: Partial<Readonly<Record<ServiceName, Dispatch>>>): Dispatch {
  return async (request) => {
    const { service, operation } = describeCall(request);
    const dispatch = services[service];
    if (dispatch !== undefined) return dispatch(request);
    const message = `${service}:${operation} reached the local runtime, which has no ${service} here`;
    return {
      status: 501,
      headers: { 'content-type': 'application/json', 'x-amzn-errortype': 'NotImplemented' },
      body: JSON.stringify({ __type: 'NotImplemented', message }),
    };
  };
}
