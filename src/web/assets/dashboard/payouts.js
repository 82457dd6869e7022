// Payouts.

import { showOf } from './transfers.js';

export const show = showOf('payouts');
