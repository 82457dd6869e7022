// The button that prints a payment link's QR code; without a script the browser's own way of printing does it.

const button = document.querySelector('.print');
if (button instanceof HTMLElement) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
