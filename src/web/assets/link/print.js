// The button that prints a payment link's QR code.

const button = document.querySelector('.print');
if (button instanceof HTMLElement) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
