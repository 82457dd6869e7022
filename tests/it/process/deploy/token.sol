// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// A token as much as a signer needs of one: whoever makes it has a thousand, of six decimals. token.hex is what
// `solcjs --bin --optimize` makes of it.
contract Token {
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    constructor() {
        balanceOf[msg.sender] = 1000e6;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}
