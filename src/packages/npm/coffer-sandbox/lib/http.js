// One HTTP request on its own connection. Not `fetch`, because tests replace `fetch` by mocks.

'use strict';

const http = require('node:http');
const { clearTimeout, setTimeout } = require('./timers.js');

/** @typedef {{status: number, headers: http.IncomingHttpHeaders, text: string}} Answer */

/**
 * @param {string} method
 * @param {URL} url
 * @param {{headers?: Record<string, string>, body?: string, timeoutMs: number}} options
 * @returns {Promise<Answer>} for any status
 * @throws the error of node if there is no response
 */
function call(method, url, { headers = {}, body, timeoutMs }) {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const request = http.request(url, { method, agent: false, headers: { ...headers, ...length } });
    const timer = setTimeout(() => request.destroy(new Error(`no answer after ${timeoutMs} ms`)), timeoutMs);
    /** @param {Error} error */
    const fail = (error) => {
      clearTimeout(timer);
      reject(error);
    };
    request.on('error', fail);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => { text += part; });
      response.on('error', fail);
      response.on('end', () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.end(body);
  });
}

module.exports = { call };
